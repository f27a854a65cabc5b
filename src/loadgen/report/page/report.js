"use strict";
// Draws the report that stands in this page as JSON (schema: bench_report.proto).

const report = JSON.parse(document.getElementById("report").textContent);
const levels = report.levels;

function ms(us) {
  if (us < 999.5) return `${us.toPrecision(3).replace(/\.0+$/, "")} us`;
  if (us < 999500) return `${+(us / 1e3).toPrecision(3)} ms`;
  return `${+(us / 1e6).toPrecision(3)} s`;
}
const number = (v) => (v >= 1000 ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(4)));
const percent = (share) => `${+(share * 100).toFixed(5)} %`;
const seconds = (v) => `${+v.toFixed(1)} s`;

function make(name, parent, text, className) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  if (parent) parent.appendChild(node);
  return node;
}
function card(title, explanation) {
  const node = make("section", document.getElementById("charts"), undefined, "card");
  make("h2", node, title);
  make("p", node, explanation, "soft");
  return node;
}
function legend(parent, entries) {
  const node = make("div", parent, undefined, "legend");
  for (const [paint, text] of entries) {
    const item = make("span", node);
    make("i", item).style.background = paint;
    item.append(text);
  }
}
const flag = (level) => (!level.valid ? "INVALID" : level.interrupted ? "interrupted" : level.stability.stable ? "" : "unstable");
const measured = levels.filter((level) => level.latency.count > 0);

function draw_head() {
  const models = report.models.map((m) => m.name).join(", ");
  document.title = `proa bench: ${models}`;
  make("h1", document.getElementById("head"), `Load test of ${models}`);
  const target = report.target;
  const server = target.server_name ? ` (${target.server_name} ${target.server_version})` : "";
  make("p", document.getElementById("head"), `${target.url} over ${target.protocol}${server}; ${report.started}, ${seconds(report.duration_s)}; load from ${report.machine}`, "soft");
  make("p", document.getElementById("head"), report.command_line, "soft");
  for (const note of report.notes) {
    const where = note.level !== undefined ? `${levels[note.level].name}: ` : "";
    make("p", document.getElementById("notes"), where + note.text, `note ${note.severity}`);
  }
  if (report.find_max) make("p", document.getElementById("notes"), `find-max: ${report.find_max.text}`, "note");
}

function draw_table() {
  const table = make("table", make("div", document.getElementById("levels"), undefined, "scroll"));
  const header = make("tr", make("thead", table));
  for (const name of ["load", "inferences/s", "mean", "p50", "p90", "p99", "p99.9", "max", "failed", ""]) make("th", header, name);
  const body = make("tbody", table);
  for (const level of levels) {
    const l = level.latency;
    const row = make("tr", body, undefined, level.valid ? "" : "invalid");
    const times = l.count > 0 ? [l.mean_us, l.p50_us, l.p90_us, l.p99_us, l.p99_9_us, l.max_us].map(ms) : Array(6).fill("-");
    for (const text of [level.name, number(level.inferences_per_second), ...times, number(level.counts.errors), flag(level)]) make("td", row, text);
  }
}

function latency_range(values) {
  const known = values.filter((v) => v > 0);
  return logarithmic(Math.min(...known) * 0.8, Math.max(...known) * 1.25);
}

function draw_throughput() {
  const node = card("Throughput against latency", "Each point is a load level. Hollow: unstable or invalid.");
  const most = Math.max(...measured.map((l) => l.inferences_per_second));
  // By load, not in the order they were tried in. A search begins with one level of another kind.
  const along = measured.filter((l) => l.open_loop === measured.at(-1).open_loop).sort((a, b) => a.load - b.load);
  const chart = new Chart(node, { label: "throughput against latency", xscale: linear(0, most * 1.08), yscale: latency_range(measured.flatMap((l) => [l.latency.p50_us, l.latency.p99_us])), xformat: number, yformat: ms, xlabel: "inferences a second", ylabel: "latency" });
  for (const [i, [key, name]] of [["p50_us", "p50"], ["p99_us", "p99"]].entries()) {
    chart.curve(along.map((l) => [l.inferences_per_second, l.latency[key]]), color(i));
    for (const level of measured) {
      chart.point(level.inferences_per_second, level.latency[key], color(i), `${level.name}: ${number(level.inferences_per_second)}/s, ${name} ${ms(level.latency[key])}`, flag(level) !== "");
    }
  }
  for (const level of measured) chart.label(level.inferences_per_second, level.latency.p99_us, number(level.load));
  legend(node, [[color(0), "p50"], [color(1), "p99"]]);
}

function draw_cdf() {
  const node = card("Latency distribution", "Share of requests that took at most so long; each further nine has the same room.");
  const most = Math.max(...measured.map((l) => l.latency.count));
  const curves = measured.map((l) => l.latency.cdf);
  const chart = new Chart(node, { label: "latency distribution", xscale: latency_range(curves.flatMap((c) => [c[0].us, c[c.length - 1].us])), yscale: nines(Math.max(0.99, 1 - 1 / most)), xformat: ms, yformat: percent, xlabel: "latency", ylabel: "share of requests" });
  for (const [i, cdf] of curves.entries()) chart.curve([[cdf[0].us, 0], ...cdf.map((p) => [p.us, p.share])], color(i));
  legend(node, measured.map((l, i) => [color(i), l.name]));
}

const kStages = [["due_to_sent_us", "due, not yet sent"], ["queue_us", "queue"], ["compute_input_us", "compute: inputs"], ["compute_infer_us", "compute"], ["compute_output_us", "compute: outputs"], ["cache_us", "cache"], ["server_overhead_us", "server overhead"], ["network_and_client_us", "network and client"]];
const kClientStages = [["due_to_sent_us", "due, not yet sent"], ["client_send_us", "sending"], ["client_wait_us", "waiting for the server"], ["client_receive_us", "receiving"]];

function draw_stages() {
  const server = measured.some((l) => l.stages.has_server);
  const node = card("Where the mean latency goes", server ? "The server's statistics laid beside the client's times." : "The server has no statistics: the client's view.");
  const stages = server ? kStages : kClientStages;
  const part = (level, key) => (key === "cache_us" ? level.stages.cache_hit_us + level.stages.cache_miss_us : level.stages[key]);
  const used = stages.filter(([key]) => measured.some((l) => part(l, key) >= 0.5));
  const sum = (level) => used.reduce((total, [key]) => total + part(level, key), 0);
  const chart = new Chart(node, { label: "mean latency by stage", left: 120, height: 70 + 30 * measured.length, xscale: linear(0, Math.max(...measured.map(sum)) * 1.02), yscale: { at: (v) => 1 - v / measured.length, ticks: [] }, xformat: ms, yformat: String, xlabel: "mean latency", ylabel: "" });
  for (const [row, level] of measured.entries()) {
    element("text", { x: 114, y: chart.y(row + 0.5) + 4, "text-anchor": "end" }, chart.svg, level.name.length > 17 ? `${level.name.slice(0, 16)}.` : level.name);
    let from = 0;
    for (const [i, [key, name]] of used.entries()) {
      const to = from + part(level, key);
      chart.bar(from, to, row + 0.85, row + 0.15, color(i), `${level.name}: ${name} ${ms(to - from)}`);
      from = to;
    }
  }
  legend(node, used.map(([, name], i) => [color(i), name]));
}

// What is drawn for one level at a time.
function draw_level(level) {
  for (const old of document.querySelectorAll(".of-level")) old.remove();
  const end = Math.max(...level.series.map((p) => p.start_s + p.duration_s), 0.001);
  const steps = (key) => level.series.flatMap((p) => [[p.start_s, p[key]], [p.start_s + p.duration_s, p[key]]]);
  const xaxis = { xscale: linear(0, end), xformat: seconds, xlabel: "seconds since the level began" };
  if (level.series.length > 0) {
    const rates = card(`Throughput over time: ${level.name}`, "Requests answered, asked for (open loop) and failed, a second.");
    rates.classList.add("of-level");
    const curves = [["completed_per_second", "answered"], ["asked_per_second", "asked"], ["errors_per_second", "failed"]].filter(([key]) => level.series.some((p) => p[key] > 0));
    const most = Math.max(...curves.flatMap(([key]) => level.series.map((p) => p[key])), 1);
    const chart = new Chart(rates, { label: "throughput over time", ...xaxis, yscale: linear(0, most * 1.1), yformat: number, ylabel: "requests a second" });
    for (const [i, [key]] of curves.entries()) chart.curve(steps(key), color(i), { dashed: key === "asked_per_second" });
    legend(rates, curves.map(([, name], i) => [color(i), name]));
    draw_latency_series(level, xaxis, steps);
  }
  if (level.batch_sizes.length > 0) draw_batches(level);
}

function draw_latency_series(level, xaxis, steps) {
  const keys = [["p50_us", "p50"], ["p99_us", "p99"], ["max_us", "max"]];
  const values = level.series.flatMap((p) => keys.map(([key]) => p[key])).filter((v) => v > 0);
  if (values.length === 0) return;
  const node = card(`Latency over time: ${level.name}`, "Of the requests that were answered in each interval.");
  node.classList.add("of-level");
  const chart = new Chart(node, { label: "latency over time", ...xaxis, yscale: latency_range(values), yformat: ms, ylabel: "latency" });
  // Intervals without an answer leave a gap.
  for (const [i, [key]] of keys.entries()) {
    let run = [];
    for (const point of [...steps(key), [0, 0]]) {
      if (point[1] > 0) {
        run.push(point);
      } else {
        chart.curve(run, color(i));
        run = [];
      }
    }
  }
  legend(node, keys.map(([, name], i) => [color(i), name]));
}

function draw_batches(level) {
  const total = level.batch_sizes.reduce((sum, b) => sum + b.executions, 0);
  const mean = level.batch_sizes.reduce((sum, b) => sum + b.executions * b.size, 0) / total;
  const node = card(`Batch sizes: ${level.name}`, `${number(total)} executions by the server, ${mean.toFixed(2)} inferences each.`);
  node.classList.add("of-level");
  const sizes = level.batch_sizes.map((b) => String(b.size));
  const most = Math.max(...level.batch_sizes.map((b) => b.executions));
  const bands = { at: (v) => v / sizes.length, ticks: sizes.map((_, i) => i + 0.5) };
  const chart = new Chart(node, { label: "batch sizes", xscale: bands, yscale: linear(0, most * 1.08), xformat: (v) => sizes[Math.floor(v)], yformat: number, xlabel: "inferences in a batch", ylabel: "executions" });
  for (const [i, b] of level.batch_sizes.entries()) chart.bar(i + 0.12, i + 0.88, 0, b.executions, color(0), `batch ${b.size}: ${number(b.executions)} executions`);
}

draw_head();
draw_table();
if (measured.length > 0) {
  draw_throughput();
  draw_cdf();
  draw_stages();
  const select = document.getElementById("level");
  for (const [i, level] of levels.entries()) make("option", select, level.name).value = i;
  const trusted = measured.filter((level) => level.valid);
  select.value = String(levels.indexOf(trusted.length > 0 ? trusted[trusted.length - 1] : measured[0]));
  select.addEventListener("change", () => draw_level(levels[Number(select.value)]));
  draw_level(levels[Number(select.value)]);
} else {
  document.getElementById("chooser").remove();
}
document.body.dataset.drawn = "yes";
