// Passes and rules by what they took, how often they were tried, and how often that changed something.
import { h } from "./dom";
import type { Recording, Rule } from "./recording";
import { seconds } from "./units";

interface Column<T> {
  title: string;
  value: (row: T) => number | string;
  shown?: (row: T) => string;
}

export function statistics(recording: Recording, onRule: (rule: Rule) => void): HTMLElement {
  return h(
    "div",
    { class: "statistics" },
    h("h2", {}, "Passes"),
    h("p", {}, "A try is a run of the pass, a hit one that changed the graph."),
    table(recording.passTimes, [
      { title: "pass", value: (r) => r.name },
      { title: "pipeline", value: (r) => r.pipeline },
      ...costs(recording.passTimes),
    ]),
    h("h2", {}, "Rules"),
    h("p", {}, "A try is a call of the rule's function, once its pattern has matched; a hit gave a replacement."),
    table(
      recording.rules,
      [
        { title: "rule", value: (r) => r.place },
        ...costs(recording.rules),
        { title: "source", value: (r) => r.source.replace(/\s+/g, " ").slice(0, 160) },
      ],
      onRule,
    ),
  );
}

function costs<T extends { tries: number; hits: number; seconds: number }>(rows: T[]): Column<T>[] {
  const total = rows.reduce((sum, row) => sum + row.seconds, 0) || 1;
  return [
    { title: "time", value: (r) => r.seconds, shown: (r) => seconds(r.seconds) },
    { title: "share", value: (r) => r.seconds / total, shown: (r) => `${((100 * r.seconds) / total).toFixed(1)} %` },
    { title: "tries", value: (r) => r.tries },
    { title: "hits", value: (r) => r.hits },
  ];
}

function table<T>(rows: T[], columns: Column<T>[], onRow?: (row: T) => void): HTMLElement {
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
  sort(columns.findIndex((column) => column.title === "time"));
  return h("table", { class: "table wide" }, h("thead", {}, h("tr", {}, ...heads)), body);
}
