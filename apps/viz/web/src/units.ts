// Numbers with units, as people read them.

export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size < 1e-6) return `${(value * 1e9).toFixed(0)} ns`;
  if (size < 1e-3) return `${(value * 1e6).toPrecision(3)} µs`;
  if (size < 1) return `${(value * 1e3).toPrecision(3)} ms`;
  return `${value.toPrecision(3)} s`;
}

function scaled(value: number, units: string[]): string {
  let index = 0;
  while (Math.abs(value) >= 1000 && index < units.length - 1) {
    value /= 1000;
    index += 1;
  }
  return `${index ? value.toPrecision(3) : Math.round(value)} ${units[index]}`;
}

export const bytes = (value: number) => scaled(value, ["B", "kB", "MB", "GB", "TB"]);
export const flops = (value: number) => scaled(value, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"]);
export const perSecond = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A place in a file without its folders: "train.py:12 in step". */
export function shortLine(line: string): string {
  return line.replace(/^.*[/\\]/, "");
}
