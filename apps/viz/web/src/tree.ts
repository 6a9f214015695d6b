// The list on the left: realizes, their kernels, the passes of each, the rules that each applied.
import { h } from "./dom";
import type { Kernel, Pass, Realize, Recording, Rewrite } from "./recording";
import { count, seconds } from "./units";

export type Selection =
  | { kind: "realize"; realize: Realize }
  | { kind: "kernel"; kernel: Kernel }
  | { kind: "pass"; pass: Pass; kernel?: Kernel }
  | { kind: "optimise"; kernel: Kernel; before: number; after: number }
  | { kind: "rewrite"; rewrite: Rewrite; pass: Pass; kernel?: Kernel };

// a pass may apply thousands of rules
const MOST_REWRITES = 400;

export class Tree {
  readonly element = h("nav", { class: "tree", "aria-label": "what was recorded" });
  private current?: HTMLElement;

  constructor(
    private recording: Recording,
    private onSelect: (selection: Selection) => void,
  ) {
    recording.realizes.forEach((realize, i) => this.element.append(this.realize(realize, i)));
    const owned = new Set(recording.realizes.flatMap((realize) => realize.kernels));
    const others = [...recording.kernels.values()].filter((kernel) => !owned.has(kernel));
    if (others.length) this.element.append(this.group("Kernels of no realize", "", others.map((k) => this.kernel(k))));
    if (!this.element.childElementCount) this.element.append(h("p", { class: "empty" }, "Nothing was computed in this recording."));
  }

  /** Select the first thing that has something to show. */
  start(): void {
    this.element.querySelector<HTMLElement>("summary")?.click();
  }

  private realize(realize: Realize, index: number): HTMLElement {
    const what = [realize.kernelCount && count(realize.kernelCount, "kernel"), realize.copyCount && count(realize.copyCount, "copy", "copies")];
    const title = `Realize ${index + 1}`;
    return this.item(title, `${what.filter(Boolean).join(", ")} · ${seconds(realize.seconds)}`, { kind: "realize", realize }, () => {
      const parts = realize.kernels.map((kernel) => this.kernel(kernel));
      if (!realize.passes.length) return [h("p", { class: "hint" }, "scheduled before: its schedule came from the cache"), ...parts];
      return [this.group("Scheduler", seconds(sum(realize.passes)), realize.passes.map((pass) => this.pass(pass))), ...parts];
    });
  }

  private kernel(kernel: Kernel): HTMLElement {
    const times = kernel.launches.flatMap((l) => l.seconds ?? []);
    const best = times.length ? seconds(Math.min(...times)) : "";
    const runs = kernel.launches.length > 1 ? ` × ${kernel.launches.length}` : "";
    return this.item(kernel.name, `${best}${runs}`, { kind: "kernel", kernel }, () => {
      if (!kernel.passes.length) return [h("p", { class: "hint" }, "no passes: its program came from a cache")];
      const out: HTMLElement[] = [];
      kernel.passes.forEach((pass, i) => {
        const before = kernel.passes[i - 1];
        if (before && before.pipeline !== pass.pipeline && before.after !== pass.before)
          out.push(
            this.leaf("optimise", count(kernel.compile?.opts.length ?? 0, "opt"), {
              kind: "optimise",
              kernel,
              before: before.after,
              after: pass.before,
            }),
          );
        out.push(this.pass(pass, kernel));
      });
      return out;
    });
  }

  private pass(pass: Pass, kernel?: Kernel): HTMLElement {
    const selection: Selection = { kind: "pass", pass, kernel };
    const hits = pass.rewrites.length;
    const isIdle = pass.before === pass.after;
    const note = hits ? count(hits, "rule") : isIdle ? "no change" : "changed";
    if (!hits) return this.leaf(pass.name, note, selection, isIdle);
    return this.item(pass.name, note, selection, () => {
      const leaves = pass.rewrites.slice(0, MOST_REWRITES).map((rewrite, i) => {
        const op = `${this.recording.nodes[rewrite.before].op} → ${this.recording.nodes[rewrite.after].op}`;
        return this.leaf(`${i + 1}  ${op}`, rewrite.rule.place.replace(/^.*\//, ""), { kind: "rewrite", rewrite, pass, kernel });
      });
      if (hits > MOST_REWRITES) leaves.push(h("p", { class: "hint" }, `and ${count(hits - MOST_REWRITES, "more rule")}`));
      return leaves;
    });
  }

  private group(title: string, note: string, parts: HTMLElement[]): HTMLElement {
    return h("details", {}, h("summary", {}, h("span", { class: "name" }, title), h("span", { class: "note" }, note)), ...parts);
  }

  /** An entry that opens; its parts are made when it does. */
  private item(title: string, note: string, selection: Selection, parts: () => HTMLElement[]): HTMLElement {
    const summary = h("summary", { title }, h("span", { class: "name" }, title), h("span", { class: "note" }, note));
    const details = h("details", {}, summary);
    summary.addEventListener("click", (event) => {
      // the first click shows an entry; only one on what is shown closes it
      if (details.open && this.current !== summary) event.preventDefault();
      this.choose(summary, selection);
    });
    details.addEventListener("toggle", () => details.childElementCount === 1 && details.append(...parts()), { once: true });
    return details;
  }

  private leaf(title: string, note: string, selection: Selection, isIdle = false): HTMLElement {
    const leaf = h(
      "button",
      { class: isIdle ? "leaf idle" : "leaf", title },
      h("span", { class: "name" }, title),
      h("span", { class: "note" }, note),
    );
    leaf.addEventListener("click", () => this.choose(leaf, selection));
    return leaf;
  }

  private choose(element: HTMLElement, selection: Selection): void {
    this.current?.classList.remove("chosen");
    this.current = element;
    element.classList.add("chosen");
    this.onSelect(selection);
  }
}

const sum = (passes: Pass[]) => passes.reduce((total, pass) => total + pass.seconds, 0);
