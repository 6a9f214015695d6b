// Highlighted code: only the languages that kernels, rules and machine code are written in.
import c from "@shikijs/langs/c";
import python from "@shikijs/langs/python";
import dark from "@shikijs/themes/github-dark";
import light from "@shikijs/themes/github-light";
import { createHighlighterCoreSync } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";
import { h } from "./dom";

type Language = "c" | "python" | "asm" | "text";
// longer texts are shown plain at once, since highlighting them takes seconds
const MOST_CHARACTERS = 60_000;

let highlighter: ReturnType<typeof createHighlighterCoreSync> | undefined;

export function code(text: string, language: Language): HTMLElement {
  const block = h("pre", { class: `code code-${language}`, tabindex: "0" });
  if (language === "text" || text.length > MOST_CHARACTERS) block.append(h("code", {}, text));
  else if (language === "asm") block.append(assembly(text));
  else {
    highlighter ??= createHighlighterCoreSync({
      langs: [c, python],
      themes: [light, dark],
      engine: createJavaScriptRegexEngine({ forgiving: true }),
    });
    const html = highlighter.codeToHtml(text, { lang: language, themes: { light: "github-light", dark: "github-dark" }, defaultColor: false });
    const parsed = new DOMParser().parseFromString(html, "text/html").querySelector("code")!;
    block.append(document.adoptNode(parsed));
  }
  return block;
}

const INSTRUCTION = /^(\s*[0-9a-f]+:\s+)(\S+)([^#]*)(#.*)?$/;

/** What objdump prints: addresses, mnemonics, operands and comments. */
function assembly(text: string): HTMLElement {
  const out = h("code");
  for (const line of text.split("\n")) {
    const found = INSTRUCTION.exec(line);
    if (!found) out.append(h("span", { class: /^[0-9a-f]+ <.*>:$/.test(line) ? "asm-label" : "" }, line));
    else {
      const [, address, mnemonic, operands, comment] = found;
      out.append(
        h("span", { class: "asm-address" }, address),
        h("span", { class: "asm-mnemonic" }, mnemonic),
        operands,
        h("span", { class: "asm-address" }, comment ?? ""),
      );
    }
    out.append("\n");
  }
  return out;
}
