/**
 * Draws a tree into an element by changing only what differs: a streamed message keeps its nodes, so that nothing
 * flickers, a selection stays and a button keeps its focus.
 */

/**
 * @typedef {{tag: string, attrs?: Record<string, string>, children?: Tree[], draw?: (element: Element) => void}} Branch
 *   `draw`: draws what is inside, instead of children
 * @typedef {Branch | string} Tree
 */

/** @param {Element} element @param {Tree[]} trees */
export function patch(element, trees) {
  let node = element.firstChild;
  for (const tree of trees) {
    const next = node && node.nextSibling;
    if (node === null) element.append(grow(tree));
    else if (!fits(node, tree)) node.replaceWith(grow(tree));
    else if (typeof tree === "string") extend(/** @type {Text} */ (node), tree);
    else {
      dress(/** @type {Element} */ (node), tree.attrs ?? {});
      if (tree.draw) tree.draw(/** @type {Element} */ (node));
      else patch(/** @type {Element} */ (node), tree.children ?? []);
    }
    node = next;
  }
  while (node) {
    const next = node.nextSibling;
    node.remove();
    node = next;
  }
}

/** @param {Tree} tree @returns {Node} */
export function grow(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const element = document.createElement(tree.tag);
  dress(element, tree.attrs ?? {});
  for (const child of tree.children ?? []) element.append(grow(child));
  tree.draw?.(element);
  return element;
}

/** @param {ChildNode} node @param {Tree} tree */
const fits = (node, tree) =>
  typeof tree === "string" ? node.nodeType === Node.TEXT_NODE : node.nodeName.toLowerCase() === tree.tag;

/** Appending keeps a selection inside the text where replacing it would not. @param {Text} node @param {string} text */
function extend(node, text) {
  if (node.data === text) return;
  if (text.startsWith(node.data)) node.appendData(text.slice(node.data.length));
  else node.data = text;
}

/** @param {Element} element @param {Record<string, string>} attrs */
function dress(element, attrs) {
  for (const name of element.getAttributeNames())
    if (!(name in attrs) && name !== "open") element.removeAttribute(name); // keeps open what the reader unfolded
  for (const [name, value] of Object.entries(attrs)) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}
