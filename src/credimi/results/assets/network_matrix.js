// Elements, and the matrix of all pairs: probability above the diagonal, information below.
"use strict";

// An element with attributes and children; text stays text.
function make(tag, attributes = {}, ...children) {
  const svg = ["g", "line", "path", "circle", "text", "title"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const isolated = (text) => make("bdi", {}, text === "" ? "(no name)" : text);
const chance = (p) => (p > 0.995 ? "> 0.99" : p < 0.005 ? "< 0.01" : p.toFixed(2));
const counted = (number) => Number(number.toFixed(number < 10 ? 1 : 0)).toLocaleString("en"); // sums of weights are rounded

// Columns that hang together lie side by side: the order of a walk along the strongest edges.
function matrixOrder(count, pairs) {
  const near = Array.from({ length: count }, () => []);
  for (const pair of pairs) {
    near[pair.a].push([pair.probability + pair.mi, pair.b]);
    near[pair.b].push([pair.probability + pair.mi, pair.a]);
  }
  for (const each of near) each.sort((one, other) => one[0] - other[0]);
  const order = [], seen = new Set();
  const starts = [...near.keys()].sort((one, other) => near[other].length - near[one].length || one - other);
  for (const start of starts) {
    const stack = [start];
    while (stack.length) {
      const column = stack.pop();
      if (seen.has(column)) continue;
      seen.add(column);
      order.push(column);
      for (const [weight, other] of near[column]) if (weight >= 0.5 && !seen.has(other)) stack.push(other);
    }
  }
  return order;
}

// Names stand beside the rows where there is room for them.
function drawMatrix(canvas, labels, order, pairs, level, at) {
  const count = order.length, style = getComputedStyle(document.documentElement), room = Math.min(canvas.parentElement.clientWidth || 900, 1000);
  const margin = (room - 150) / count >= 12 ? 150 : 0, size = Math.max(Math.min(Math.floor((room - margin) / count), 28), 2);
  canvas.width = size * count + margin;
  canvas.height = size * count;
  const pen = canvas.getContext("2d"), place = new Array(count);
  if (margin) {
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = style.getPropertyValue("--ink");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    labels.forEach((name, rank) => pen.fillText(name.length > 22 ? `${name.slice(0, 21)}…` : name, margin - 6, (rank + 0.5) * size));
  }
  pen.translate(margin, 0);
  order.forEach((column, rank) => { place[column] = rank; });
  const most = Math.max(...pairs.map((pair) => pair.mi), 1e-9);
  for (const pair of pairs) {
    const [low, high] = [place[pair.a], place[pair.b]].sort((one, other) => one - other);
    pen.fillStyle = style.getPropertyValue("--accent");
    pen.globalAlpha = pair.probability >= level ? pair.probability : 0.35 * pair.probability;
    pen.fillRect(high * size, low * size, size, size);
    pen.fillStyle = style.getPropertyValue("--less");
    pen.globalAlpha = Math.sqrt(pair.mi / most);
    pen.fillRect(low * size, high * size, size, size);
  }
  pen.globalAlpha = 1;
  pen.fillStyle = style.getPropertyValue("--line");
  for (let rank = 0; rank < count; rank += 1) pen.fillRect(rank * size, rank * size, size, size);
  if (at) {
    pen.strokeStyle = style.getPropertyValue("--unsure");
    pen.lineWidth = 2;
    pen.strokeRect(at[0] * size - 1, at[1] * size - 1, size + 2, size + 2);
  }
  return { size, margin };
}
