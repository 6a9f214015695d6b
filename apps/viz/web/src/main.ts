// The page: what was recorded on the left, the picture in the middle, facts and code on the right.
import { CATEGORY_NAMES, drawing, type Sides } from "./cards";
import { kernelDetails, nodeDetails, passDetails, ruleDetails, scheduledDetails, facts } from "./details";
import { forgetColours, h } from "./dom";
import { GraphView } from "./graph_view";
import { parse, reachable, type Kernel, type Recording, type Rule, type ScheduledKernel } from "./recording";
import { schedulePicture } from "./schedule_view";
import { statistics } from "./statistics";
import "./style.css";
import { Timeline } from "./timeline";
import { perfetto } from "./trace";
import { Tree, type Selection } from "./tree";
import { count, seconds } from "./units";

type Tab = "Graph" | "Timeline" | "Statistics";
type Which = "before" | "both" | "after";

async function load(): Promise<string> {
  const embedded = document.getElementById("recording");
  if (!embedded) return (await fetch("recording")).text();
  const packed = Uint8Array.from(atob(embedded.textContent!.trim()), (character) => character.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

class Page {
  private graph = new GraphView((id) => this.nodeSelected(id));
  private side = h("aside", { class: "side", "aria-label": "details" });
  private middle = h("main");
  private bar = h("div", { class: "bar" });
  private caption = h("div", { class: "caption" });
  private tabs = new Map<Tab, HTMLElement>();
  private timeline?: Timeline;
  private statistics?: HTMLElement;
  private tab: Tab = "Graph";
  private which: Which = "both";
  private folds = true;
  // a rule may replace a node by a number, which has to be seen
  private isRule = false;
  private sides: Sides = {};
  private context: HTMLElement[] = [];
  private scheduled = new Map<number, ScheduledKernel>();
  private kernelRows = new Map<number, ScheduledKernel>();
  private whichButtons = new Map<Which, HTMLElement>();
  private toChange = h("button", { class: "quiet-button", title: "go to what changed", onclick: () => this.graph.goToChange() }, "To change");
  private results = h("span", { class: "results" });

  constructor(private recording: Recording) {
    for (const realize of recording.realizes) for (const kernel of realize.schedules.flat()) this.kernelRows.set(kernel.ast, kernel);
    const tree = new Tree(recording, (selection) => this.choose(selection));
    const { dropped } = recording;
    const missing = Object.values(dropped).reduce((a, b) => a + b, 0);
    const warning = missing ? `the file was full: ${count(missing, "event")} left out` : recording.isComplete ? "" : "the program did not end: the recording is cut";
    const left = h("div", { class: "left" }, this.header(), warning ? h("p", { class: "warning" }, warning) : null, tree.element);
    document.getElementById("app")!.append(left, this.middle, this.side);
    this.middle.append(this.tabBar(), this.bar, this.graph.element, this.legend());
    this.fillBar();
    tree.start();
  }

  private header(): HTMLElement {
    const { recording } = this;
    return h(
      "header",
      {},
      h("h1", {}, "plugrad", h("span", {}, " viz")),
      h("p", { class: "program", title: recording.program }, recording.program || "a program"),
      h("p", { class: "quiet" }, `${recording.time} · plugrad ${recording.version}`),
    );
  }

  private tabBar(): HTMLElement {
    const bar = h("div", { class: "tabs main-tabs", role: "tablist" });
    for (const name of ["Graph", "Timeline", "Statistics"] as const) {
      const tab = h("button", { role: "tab", "aria-selected": String(name === this.tab), onclick: () => this.openAgain(name) }, name);
      this.tabs.set(name, tab);
      bar.append(tab);
    }
    bar.append(
      this.caption,
      h("button", { class: "quiet-button", title: "for ui.perfetto.dev", onclick: () => this.download() }, "Save for Perfetto"),
      h("button", { class: "quiet-button", "aria-label": "light or dark", title: "light or dark", onclick: () => this.switchTheme() }, "◐"),
    );
    return bar;
  }

  private fillBar(): void {
    const choice = h("div", { class: "choice", role: "group", "aria-label": "which graph" });
    for (const [which, name] of [["before", "Before"], ["both", "Changes"], ["after", "After"]] as const) {
      const button = h("button", { onclick: () => this.chooseWhich(which) }, name);
      this.whichButtons.set(which, button);
      choice.append(button);
    }
    const search = h("input", { type: "search", placeholder: "Search nodes", "aria-label": "search nodes" });
    search.addEventListener("input", () => this.search(search.value, false));
    search.addEventListener("keydown", (event) => event.key === "Enter" && this.search(search.value, true));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || document.activeElement === search) return;
      event.preventDefault();
      search.focus();
    });
    const folds = h("input", { type: "checkbox" });
    folds.addEventListener("change", () => {
      this.folds = !folds.checked;
      this.redraw();
    });
    this.bar.append(
      choice,
      search,
      this.results,
      h("label", { title: "draw constants as nodes of their own" }, folds, "numbers"),
      h("span", { class: "spring" }),
      this.toChange,
      h("button", { class: "quiet-button", title: "all of it (0)", onclick: () => this.graph.fit() }, "Fit"),
      h("button", { class: "quiet-button", "aria-label": "smaller", onclick: () => this.graph.zoom(0.8) }, "−"),
      h("button", { class: "quiet-button", "aria-label": "larger", onclick: () => this.graph.zoom(1.25) }, "+"),
    );
  }

  private legend(): HTMLElement {
    const items = CATEGORY_NAMES.map((name) => h("span", {}, h("i", { style: `background: var(--op-${name})` }), name));
    const states = ["added", "removed"].map((name) => h("span", { class: "state" }, h("i", { class: "outline", style: `border-color: var(--${name})` }), name));
    return h("div", { class: "legend" }, ...items, ...states);
  }

  private open(tab: Tab): void {
    this.tab = tab;
    for (const [name, element] of this.tabs) element.setAttribute("aria-selected", String(name === tab));
    const isGraph = tab === "Graph";
    this.bar.hidden = this.graph.element.hidden = !isGraph;
    this.middle.querySelector<HTMLElement>(".legend")!.hidden = !isGraph;
    if (tab === "Timeline" && !this.timeline) {
      this.timeline = new Timeline(
        this.recording,
        (span) => span.kernel && this.showSide(...kernelDetails(this.recording, span.kernel, this.scheduledOf(span.kernel))),
        (alive) => this.showSide(alive),
      );
      this.middle.append(this.timeline.element);
    }
    if (tab === "Statistics" && !this.statistics) {
      this.statistics = statistics(this.recording, (rule: Rule) => this.showSide(ruleDetails(rule)));
      this.middle.append(this.statistics);
    }
    if (this.timeline) this.timeline.element.hidden = tab !== "Timeline";
    if (this.statistics) this.statistics.hidden = tab !== "Statistics";
    this.caption.hidden = !isGraph;
    if (isGraph) this.graph.draw();
    else if (tab === "Timeline") this.hint("Select a span for its kernel, and a time for what is alive then. The wheel zooms, dragging moves.");
    else this.hint("Select a rule for its source.");
    this.timeline?.draw();
  }

  /** Open a tab and show what was selected there. */
  private openAgain(tab: Tab): void {
    this.open(tab);
    if (tab === "Graph") this.showSide(...this.context);
  }

  private choose(selection: Selection): void {
    this.open("Graph");
    const { recording } = this;
    this.scheduled.clear();
    this.isRule = selection.kind === "rewrite";
    switch (selection.kind) {
      case "realize": {
        const { realize } = selection;
        const picture = schedulePicture(recording, realize);
        this.scheduled = picture.kernels;
        this.setCaption("Schedule", picture.kernels.size ? "kernels, and the memory between them" : "scheduled before: see the realize that was first");
        this.setWhich(false);
        this.context = [
          h(
            "section",
            {},
            h("h3", {}, "Realize"),
            facts([
              ["time", seconds(realize.seconds)],
              ["kernels", String(realize.kernelCount)],
              ["copies", realize.copyCount ? String(realize.copyCount) : undefined],
              ["devices", realize.devices.join(", ")],
              ["on devices", seconds(realize.launches.reduce((sum, l) => sum + (l.seconds ?? 0), 0))],
            ]),
            picture.kernels.size ? h("p", { class: "quiet" }, "Select a kernel to see what is in it, and why it ends there.") : null,
          ),
        ];
        this.graph.show(picture.drawing);
        this.showSide(...this.context);
        return;
      }
      case "kernel": {
        const { kernel } = selection;
        const ast = kernel.lower?.ast ?? kernel.passes[0]?.before;
        this.setCaption(kernel.name, "the kernel's graph, as the scheduler made it");
        this.context = kernelDetails(recording, kernel, this.scheduledOf(kernel));
        this.showGraph(ast === undefined ? {} : { after: reachable(recording, ast) }, false);
        break;
      }
      case "pass": {
        const { pass, kernel } = selection;
        this.showChange(pass.before, pass.after, `${pass.pipeline} · ${pass.name}`, kernel?.name ?? "scheduler");
        const details = passDetails(pass, this.sides.after!.size, this.sides.before!.size);
        this.context = [details, ...(kernel ? kernelDetails(recording, kernel, this.scheduledOf(kernel)) : [])];
        break;
      }
      case "optimise":
        this.showChange(selection.before, selection.after, "optimise", "the Opts split and mark loops");
        this.context = kernelDetails(recording, selection.kernel, this.scheduledOf(selection.kernel));
        break;
      case "rewrite": {
        const { rewrite, pass } = selection;
        this.showChange(rewrite.before, rewrite.after, `${pass.name} · ${rewrite.rewrite || "rule"}`, rewrite.rule.place);
        this.context = [ruleDetails(rewrite.rule)];
      }
    }
    this.showSide(...this.context);
  }

  private scheduledOf(kernel: Kernel): ScheduledKernel | undefined {
    return kernel.lower && this.kernelRows.get(kernel.lower.ast);
  }

  private showChange(before: number, after: number, title: string, note: string): void {
    this.setCaption(title, before === after ? `${note} · nothing changed` : note);
    const { recording } = this;
    this.showGraph({ before: reachable(recording, before), after: reachable(recording, after) }, before !== after);
  }

  private showGraph(sides: Sides, changes: boolean): void {
    this.sides = sides;
    this.setWhich(changes);
    this.redraw();
  }

  private redraw(): void {
    if (this.scheduled.size) return;
    const { before, after } = this.sides;
    if (!before && !after) this.graph.show({ cards: [], edges: [] });
    else this.graph.show(drawing(this.recording, this.sides, before ? this.which : "after", this.folds && !this.isRule));
  }

  private setWhich(isShown: boolean): void {
    const choice = this.bar.querySelector<HTMLElement>(".choice")!;
    choice.hidden = this.toChange.hidden = !isShown;
    for (const state of this.middle.querySelectorAll<HTMLElement>(".legend .state")) state.hidden = !isShown;
    for (const [which, button] of this.whichButtons) button.setAttribute("aria-pressed", String(which === this.which));
  }

  private chooseWhich(which: Which): void {
    this.which = which;
    this.setWhich(true);
    this.redraw();
  }

  private search(words: string, goesOn: boolean): void {
    const hits = this.graph.search(words, goesOn);
    this.results.textContent = words ? count(hits, "node") : "";
  }

  private nodeSelected(id: number | null): void {
    if (id === null) return this.showSide(...this.context);
    const scheduled = this.scheduled.get(id);
    if (scheduled) {
      const kernel = this.recording.lowered.get(scheduled.ast);
      return this.showSide(...(kernel ? kernelDetails(this.recording, kernel, scheduled) : [scheduledDetails(this.recording, scheduled)]));
    }
    this.showSide(nodeDetails(this.recording, this.recording.nodes[id]), ...this.context);
  }

  private hint(text: string): void {
    this.showSide(h("p", { class: "quiet" }, text));
  }

  private setCaption(title: string, note: string): void {
    this.caption.replaceChildren(h("b", {}, title), h("span", {}, note));
  }

  private showSide(...children: HTMLElement[]): void {
    this.side.replaceChildren(...children);
    this.side.scrollTop = 0;
  }

  private switchTheme(): void {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    this.repaint();
  }

  repaint(): void {
    forgetColours();
    this.graph.draw();
    this.timeline?.draw();
  }

  private download(): void {
    const blob = new Blob([JSON.stringify(perfetto(this.recording))], { type: "application/json" });
    const link = h("a", { href: URL.createObjectURL(blob), download: "plugrad-trace.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

load()
  .then((text) => {
    const page = new Page(parse(text));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.repaint());
  })
  .catch((error: Error) => document.getElementById("app")!.replaceChildren(h("p", { class: "warning" }, `cannot show this recording: ${error.message}`)));
