/**
 * Colours for code: comments, strings, numbers, keywords, called functions. It knows families of languages, not
 * grammars, and reads each character a bounded number of times: an unclosed comment or string runs to the end.
 *
 * @typedef {import("./patch.js").Tree} Tree
 * @typedef {{comments: string[], words: string, quotes?: string[], ignoreCase?: boolean}} Family
 */

const SLASHES = String.raw`\/\/.*|\/\*[^]*?(?:\*\/|$)`;
const HASH = String.raw`#.*`;
const LINE_STRINGS = [String.raw`"(?:[^"\\\n]|\\.)*"?`, String.raw`'(?:[^'\\\n]|\\.)*'?`];
const LONG_STRINGS = [String.raw`"""[^]*?(?:"""|$)`, String.raw`'''[^]*?(?:'''|$)`];
const BACKTICKS = "`(?:[^`\\\\]|\\\\.)*`?";

/** @type {Record<string, Family>} */
const FAMILIES = {
  c: {
    comments: [SLASHES, String.raw`#[ \t]*(?:include|define|ifn?def|if|elif|else|endif|pragma|undef)\b.*`],
    words:
      "abstract as async auto await bool boolean break byte case catch char class const constexpr continue default " +
      "defer delete do double dyn else enum explicit export extends extern fallthrough false final finally float fn for " +
      "from func function go goto if impl implements import in inline instanceof int interface internal is let long " +
      "loop map match mod move mut namespace new nil null nullptr of operator override package private protected pub " +
      "public readonly ref return self short signed sizeof static string struct super switch template this throw throws " +
      "trait true try type typedef typename typeof undefined union unsafe unsigned use using val var virtual void " +
      "volatile when where while with yield",
    quotes: [BACKTICKS],
  },
  python: {
    comments: [HASH],
    words:
      "and as assert async await break case class continue def del elif else except False finally for from global if " +
      "import in is lambda match None nonlocal not or pass raise return self True try while with yield",
    quotes: LONG_STRINGS,
  },
  shell: {
    comments: [String.raw`(?<![^\s])#.*`],
    words:
      "begin case cd class def do done echo elif else elsif end esac exit export fi for function if in local module nil " +
      "require return select set source then true false unless until when while FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR",
  },
  data: { comments: [String.raw`(?<![^\s])#.*`, String.raw`\/\/.*`], words: "true false null yes no on off" },
  sql: {
    comments: [String.raw`--.*`, SLASHES],
    words:
      "add all alter and as asc begin between by case check column commit constraint create cross default delete desc " +
      "distinct drop else end exists foreign from full group having if in index inner insert into is join key left like " +
      "limit not null offset on or order outer over partition primary references returning right rollback select set " +
      "table then transaction union unique update using values view when where with",
    ignoreCase: true,
  },
  markup: { comments: [String.raw`<!--[^]*?(?:-->|$)`], words: "" },
  css: { comments: [SLASHES], words: "important" },
};

/** @type {Record<string, string>} */
const LANGUAGES = Object.fromEntries(
  Object.entries({
    c: "c cc cpp cxx h hpp cs csharp d dart go golang groovy java javascript js jsx kotlin kt mjs objc php proto rs rust scala solidity swift ts tsx typescript zig",
    python: "py python python3 gd starlark bzl",
    shell: "bash console docker dockerfile elixir make makefile perl ps1 powershell r rb ruby sh shell zsh fish lua tcl",
    data: "cfg conf env hcl ini json json5 jsonc properties terraform tf toml yaml yml",
    sql: "mysql pgsql plsql postgres postgresql sql sqlite",
    markup: "html htm svg vue xml xhtml svelte",
    css: "css scss sass less",
  }).flatMap(([family, names]) => names.split(" ").map((name) => [name, family])),
);

const patterns = /** @type {Map<string, RegExp>} */ (new Map());

/** @param {string} name */
function patternOf(name) {
  let pattern = patterns.get(name);
  if (pattern) return pattern;
  const { comments, words, quotes = [], ignoreCase } = FAMILIES[name];
  const keyword = words ? String.raw`\b(?:${words.replaceAll(" ", "|")})\b` : "(?!)";
  const tag = name === "markup" ? String.raw`<\/?[\w:.-]+|\/?>` : "(?!)";
  const key =
    name === "data" ? String.raw`"(?:[^"\\\n]|\\.){0,200}"(?=[ \t]{0,9}:)|(?<![\w.-])[\w.-]{1,60}(?=[ \t]{0,9}[:=])` : "(?!)";
  const parts = [
    `(?<comment>${comments.join("|")})`,
    `(?<name>${key}|${tag})`,
    `(?<string>${[...quotes, ...LINE_STRINGS].join("|")})`,
    `(?<keyword>${keyword}|@[A-Za-z_]\\w*)`,
    String.raw`(?<number>\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\w{0,3})`,
    String.raw`(?<called>\b[A-Za-z_$][\w$]{0,100}(?=\())`,
    String.raw`(?<plain>[A-Za-z_$][\w$]*|\s+|[^])`,
  ];
  pattern = new RegExp(parts.join("|"), ignoreCase ? "giy" : "gy");
  patterns.set(name, pattern);
  return pattern;
}

/** A patch: what came, what went. @param {string} code @returns {Tree[]} */
const diff = (code) =>
  code.split(/(?<=\n)/).map((line) => {
    const kind = { "+": "added", "-": "removed", "@": "comment" }[line[0]];
    return kind ? token(kind, line) : line;
  });

/** @param {string} kind @param {string} text @returns {Tree} */
const token = (kind, text) => ({ tag: "span", attrs: { class: `t-${kind}` }, children: [text] });

/**
 * The code in coloured pieces; without colours if the language is not known, or if there would be too many pieces.
 * @param {string} code @param {string} language @param {number} most pieces @returns {Tree[]}
 */
export function highlight(code, language, most) {
  const name = language.toLowerCase();
  if (name === "diff" || name === "patch") {
    const lines = diff(code);
    return lines.length <= most ? lines : [code];
  }
  const family = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : "";
  if (!family) return [code];
  const found = /** @type {Tree[]} */ ([]);
  let plain = "";
  for (const { 0: text, groups = {} } of code.matchAll(patternOf(family))) {
    const kind = groups.plain === undefined ? Object.keys(groups).find((each) => groups[each] !== undefined) : undefined;
    if (!kind) {
      plain += text;
      continue;
    }
    if (plain) found.push(plain);
    plain = "";
    found.push(token(kind, text));
    if (found.length > most) return [code];
  }
  if (plain) found.push(plain);
  return found;
}
