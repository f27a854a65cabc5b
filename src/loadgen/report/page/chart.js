"use strict";
// A small chart: axes with ticks, curves, points, bars, as SVG. Knows nothing of reports.

const SVG = "http://www.w3.org/2000/svg";
const color = (i) => `var(--c${i % 8})`;

function element(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.appendChild(node);
  return node;
}

// Round values between low and high, about `count` of them.
function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) found.push(v);
  return found;
}

const linear = (low, high) => ({
  at: (v) => (high > low ? (v - low) / (high - low) : 0.5),
  ticks: ticks(low, high, 5),
});

function logarithmic(low, high) {
  const a = Math.log10(low), b = Math.log10(high), found = [];
  const wide = b - a > 2.2;
  for (let e = Math.floor(a); e <= Math.ceil(b); e++) {
    for (const m of wide ? [1] : b - a > 1 ? [1, 3] : [1, 1.5, 2, 3, 5, 7]) {
      const v = m * Math.pow(10, e);
      if (v >= low * 0.999 && v <= high * 1.001) found.push(v);
    }
  }
  return { at: (v) => (b > a ? (Math.log10(Math.max(v, low)) - a) / (b - a) : 0.5), ticks: found };
}

// Shares, stretched so that each further nine takes the same room.
function nines(most) {
  const top = Math.log10(1 / (1 - most));
  const all = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
  return { at: (v) => Math.min(1, Math.log10(1 / Math.max(1 - v, 1 - most)) / top), ticks: all.filter((v) => v <= most) };
}

class Chart {
  constructor(parent, options) {
    this.o = Object.assign({ width: 540, height: 280, left: 66, right: 16, top: 12, bottom: 42 }, options);
    const { width, height } = this.o;
    this.svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": options.label }, parent);
    this.draw_axes();
  }
  x(v) { return this.o.left + this.o.xscale.at(v) * (this.o.width - this.o.left - this.o.right); }
  y(v) { return this.o.height - this.o.bottom - this.o.yscale.at(v) * (this.o.height - this.o.top - this.o.bottom); }
  draw_axes() {
    const { left, right, top, bottom, width, height, xscale, yscale, xformat, yformat, xlabel, ylabel } = this.o;
    for (const v of xscale.ticks) {
      element("line", { x1: this.x(v), x2: this.x(v), y1: top, y2: height - bottom, class: "mesh" }, this.svg);
      element("text", { x: this.x(v), y: height - bottom + 16, "text-anchor": "middle" }, this.svg, xformat(v));
    }
    for (const v of yscale.ticks) {
      element("line", { x1: left, x2: width - right, y1: this.y(v), y2: this.y(v), class: "mesh" }, this.svg);
      element("text", { x: left - 6, y: this.y(v) + 4, "text-anchor": "end" }, this.svg, yformat(v));
    }
    element("line", { x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, class: "axis" }, this.svg);
    element("line", { x1: left, x2: left, y1: top, y2: height - bottom, class: "axis" }, this.svg);
    element("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, this.svg, xlabel);
    const middle = (top + height - bottom) / 2;
    element("text", { x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, this.svg, ylabel);
  }
  curve(points, paint, options = {}) {
    if (points.length === 0) return;
    let d = "";
    for (const [i, [x, y]] of points.entries()) {
      const px = this.x(x).toFixed(1), py = this.y(y).toFixed(1);
      d += i === 0 ? `M${px} ${py}` : options.step ? `H${px}V${py}` : `L${px} ${py}`;
    }
    const attributes = { d, class: "curve", style: `stroke:${paint}` };
    if (options.dashed) attributes["stroke-dasharray"] = "5 4";
    element("path", attributes, this.svg);
  }
  point(x, y, paint, tip, hollow) {
    const style = hollow ? `fill:var(--panel);stroke:${paint};stroke-width:2` : `fill:${paint}`;
    const dot = element("circle", { cx: this.x(x), cy: this.y(y), r: 4, style }, this.svg);
    element("title", {}, dot, tip);
  }
  label(x, y, text) {
    element("text", { x: this.x(x), y: this.y(y) - 8, "text-anchor": "middle", class: "strong" }, this.svg, text);
  }
  bar(x0, x1, y0, y1, paint, tip) {
    const rect = element("rect", { x: this.x(x0), y: this.y(y1), width: Math.max(0, this.x(x1) - this.x(x0)),
      height: Math.max(0, this.y(y0) - this.y(y1)), style: `fill:${paint}` }, this.svg);
    element("title", {}, rect, tip);
  }
}
