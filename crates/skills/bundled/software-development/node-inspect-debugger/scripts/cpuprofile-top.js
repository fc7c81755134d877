// Prints the functions in which a program spent its own time, most first.
// node cpuprofile-top.js FILE.cpuprofile [COUNT]
'use strict';
const fs = require('fs');

const [file, count = '20'] = process.argv.slice(2);
if (!file) {
  console.error('usage: node cpuprofile-top.js FILE.cpuprofile [COUNT]');
  process.exit(2);
}
const profile = JSON.parse(fs.readFileSync(file, 'utf8'));
const byId = new Map(profile.nodes.map((node) => [node.id, node]));
const own = new Map();
let total = 0;
profile.samples.forEach((id, index) => {
  const time = profile.timeDeltas[index];
  const frame = byId.get(id).callFrame;
  const place = frame.url ? `${frame.url}:${frame.lineNumber + 1}` : '';
  const name = `${frame.functionName || '(anonymous)'} ${place}`;
  own.set(name, (own.get(name) || 0) + time);
  total += time;
});
const rows = [...own].sort((a, b) => b[1] - a[1]).slice(0, Number(count));
for (const [name, time] of rows) {
  const share = ((100 * time) / total).toFixed(1).padStart(5);
  console.log(`${share} %  ${(time / 1000).toFixed(1).padStart(9)} ms  ${name}`);
}
