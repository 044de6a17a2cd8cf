/**
 * The actions on a message that the views can call. `app.js` makes this object; a view needs nothing else.
 *
 * @typedef {import("./state.js").Message} Message
 * @typedef {object} Actions
 * @property {(id: string) => void} jump scroll to a message, and load its surroundings if necessary
 * @property {(message: Message, emoji: string, remove: boolean) => void} react
 * @property {(message: Message, anchor: any) => void} pick choose an emoji to react with
 * @property {(message: Message) => void} openThread
 * @property {(message: Message, choice: import("./state.js").Choice) => void} press
 * @property {(client: string) => void} retry
 * @property {(client: string) => void} discard
 * @property {() => string} latestDelivered the client id of the newest own message that arrived
 * @property {(place: string, where: {before?: number, around?: string}) => void} history
 * @property {(message: Message, element: Element) => void} offer show the tools of a message
 * @property {(key: string, message: Message, element: any) => boolean} key returns whether the key had a meaning
 * @property {() => void} focus move the focus back to the message box
 */

export {};
