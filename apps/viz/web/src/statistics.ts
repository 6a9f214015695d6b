// Passes and rules by what they took and did.
import { h } from "./dom";
import type { Recording, Rule } from "./recording";
import { seconds } from "./units";

interface Column<T> {
  title: string;
  value: (row: T) => number | string;
  shown?: (row: T) => string;
}

export function statistics(recording: Recording, onRule: (rule: Rule) => void): HTMLElement {
  const passes = new Map<string, { pipeline: string; name: string; seconds: number; runs: number; changed: number; rules: number }>();
  for (const pass of recording.passes) {
    const key = `${pass.pipeline} ${pass.name}`;
    const row = passes.get(key) ?? { pipeline: pass.pipeline, name: pass.name, seconds: 0, runs: 0, changed: 0, rules: 0 };
    passes.set(key, row);
    row.seconds += pass.seconds;
    row.runs += 1;
    row.changed += Number(pass.before !== pass.after);
    row.rules += pass.rewrites.length;
  }
  const total = [...passes.values()].reduce((sum, row) => sum + row.seconds, 0);
  return h(
    "div",
    { class: "statistics" },
    h("h2", {}, "Passes"),
    table(
      [...passes.values()],
      [
        { title: "pass", value: (r) => r.name },
        { title: "pipeline", value: (r) => r.pipeline },
        { title: "time", value: (r) => r.seconds, shown: (r) => seconds(r.seconds) },
        { title: "share", value: (r) => r.seconds / total, shown: (r) => `${((100 * r.seconds) / total).toFixed(1)} %` },
        { title: "runs", value: (r) => r.runs },
        { title: "changed", value: (r) => r.changed },
        { title: "rules applied", value: (r) => r.rules },
      ],
      2,
    ),
    h("h2", {}, "Rules"),
    table(
      recording.rules,
      [
        { title: "rule", value: (r) => r.place },
        { title: "applied", value: (r) => r.hits },
        { title: "source", value: (r) => r.source.replace(/\s+/g, " ").slice(0, 160) },
      ],
      1,
      onRule,
    ),
  );
}

function table<T>(rows: T[], columns: Column<T>[], sortedBy: number, onRow?: (row: T) => void): HTMLElement {
  const body = h("tbody");
  const isNumber = columns.map((column) => rows.length > 0 && typeof column.value(rows[0]) === "number");
  const heads = columns.map((column, i) => h("th", isNumber[i] ? { class: "number" } : {}, h("button", { onclick: () => sort(i) }, column.title)));
  let direction = 1;
  let last = -1;
  const sort = (by: number) => {
    direction = by === last ? -direction : isNumber[by] ? -1 : 1;
    last = by;
    const { value } = columns[by];
    const order = [...rows].sort((a, b) => (value(a) < value(b) ? -direction : value(a) > value(b) ? direction : 0));
    heads.forEach((head, i) => head.setAttribute("aria-sort", i !== by ? "none" : direction > 0 ? "ascending" : "descending"));
    body.replaceChildren(
      ...order.map((row) => {
        const cells = columns.map((column, i) => h("td", isNumber[i] ? { class: "number" } : {}, column.shown?.(row) ?? String(column.value(row))));
        return h("tr", onRow ? { onclick: () => onRow(row), class: "clickable" } : {}, ...cells);
      }),
    );
  };
  sort(sortedBy);
  return h("table", { class: "table wide" }, h("thead", {}, h("tr", {}, ...heads)), body);
}
