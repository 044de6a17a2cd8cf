/** Emoji to react with and to complete: the common ones first, each with the words that find it. */

export const COMMON = ["👍", "❤️", "😂", "🎉", "👀", "🙏", "🚀", "✅"];

const TABLE = `
👍 thumbs up yes like +1 ok good|👎 thumbs down no dislike -1|❤️ heart love red|😂 joy laugh tears funny lol|🎉 tada party celebrate congratulations
👀 eyes look see watching|🙏 pray thanks please|🚀 rocket launch ship fast|✅ check done yes white_check_mark|❌ cross no x wrong|🔥 fire hot lit
💯 hundred perfect 100|👏 clap applause bravo|🙌 raised hands hooray|🤔 thinking hmm|😄 smile happy grin|😊 blush happy smile|😉 wink
😍 heart eyes love|😎 cool sunglasses|🥳 partying celebrate|😅 sweat smile phew|🤣 rofl rolling laugh|🙂 slight smile|🙃 upside down
😇 angel innocent|😘 kiss|😋 yum tasty|😜 wink tongue silly|🤓 nerd glasses|🧐 monocle inspect|🤨 eyebrow doubt|😐 neutral
😑 expressionless|😶 silent no mouth|🤐 zipper mouth secret|🤫 shush quiet silence|😏 smirk|😬 grimace awkward|🙄 roll eyes|😴 sleep tired zzz
😢 cry sad tear|😭 sob crying loud|😞 disappointed sad|😟 worried|😕 confused|😮 wow open mouth surprised|😱 scream fear|😳 flushed embarrassed
🥺 pleading puppy|😤 triumph huff|😡 angry rage mad|🤯 mind blown exploding|😵 dizzy|🤮 sick vomit|🤒 ill fever|🤗 hug
🤝 handshake deal agree|🫡 salute aye|👋 wave hello bye hi|👌 ok perfect|✌️ victory peace|🤞 fingers crossed luck|🤙 call me|💪 muscle strong
☝️ point up|👆 up above|👇 down below|👉 right|👈 left|✍️ write|🫶 heart hands love|🤷 shrug dunno|🤦 facepalm
🙋 raise hand question|🧑‍💻 coder developer technologist|🤖 robot bot agent|👻 ghost|👽 alien|💀 skull dead|💩 poop|🐛 bug|🐍 python snake|🐳 whale docker
🦀 crab rust|🐧 penguin linux|🦄 unicorn|🐱 cat|🐶 dog|🦊 fox|🐢 turtle slow|🐝 bee busy|🦉 owl wise
⭐ star favourite|🌟 glowing star|✨ sparkles new magic|⚡ lightning fast zap|💥 boom collision|🌈 rainbow|☀️ sun|🌙 moon night|❄️ snow freeze|🌍 earth world
💡 idea bulb light|🔧 wrench fix|🔨 hammer build|🛠️ tools|⚙️ gear settings|🧪 test tube experiment|🔬 microscope research|🧹 broom clean|📦 package box release
📌 pin|📎 paperclip attach|📝 memo note write|📚 books read docs|📈 chart up growth|📉 chart down|📊 bar chart statistics|🗓️ calendar date|⏰ alarm clock
⏳ hourglass wait|🔔 bell notify|🔕 mute bell|🔒 lock secure|🔓 unlock open|🔑 key|🔍 search find magnify|🔗 link|🗑️ trash delete
🏁 finish flag done|🚩 red flag|🚧 construction work in progress|⚠️ warning careful|🛑 stop|🚨 alarm siren urgent|❓ question|❗ exclamation|➕ plus add|➖ minus
♻️ recycle refactor|🆗 ok button|🆕 new|🔴 red circle|🟡 yellow circle|🟢 green circle|🔵 blue circle|🟣 purple circle
💙 blue heart|💚 green heart|💛 yellow heart|💜 purple heart|🖤 black heart|🤍 white heart|💔 broken heart
☕ coffee|🍵 tea|🍺 beer|🍻 cheers beers|🥂 champagne toast|🍕 pizza|🍰 cake|🎂 birthday cake|🍪 cookie|🍎 apple
🎁 gift present|🏆 trophy win|🥇 gold medal first|🎯 target bullseye|🎮 game|🎵 music note|🎨 art paint|🎬 film clapper|⚽ football soccer
🏃 run hurry|🚲 bicycle bike|🚗 car|✈️ plane travel|🏠 home house|🏖️ beach holiday|🌱 seedling grow|🌳 tree|🌸 blossom flower|🍀 clover luck
`;

/** @type {{emoji: string, words: string, name: string, others: string}[]} `name`: the first word that finds it */
export const EMOJI = TABLE.trim()
  .split(/[|\n]/)
  .map((entry) => {
    const [emoji, ...words] = entry.trim().split(" ");
    return { emoji, words: words.join(" "), name: words[0], others: words.slice(1).join(" ") };
  });

/** Typed out, as in other chats: `thumbs_up`, `tada`. @param {string} name */
export function emojiCalled(name) {
  const word = name.toLowerCase();
  const words = word.split("_").join(" ");
  const called = (/** @type {string} */ all) => `${all} `.startsWith(`${words} `) || all.split(" ").includes(word);
  return EMOJI.filter((entry) => called(entry.words));
}

/** @param {string} query */
export function findEmoji(query) {
  const words = query
    .toLowerCase()
    .split(/[\s_]+/)
    .filter(Boolean);
  const hits = EMOJI.filter((entry) => words.every((word) => ` ${entry.words}`.includes(` ${word}`)));
  return hits.length || !words.length
    ? hits
    : EMOJI.filter((entry) => words.every((word) => entry.words.includes(word)));
}
