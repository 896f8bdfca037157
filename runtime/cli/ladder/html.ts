/** A ladder as a page of HTML, which needs nothing else. */
import type { LadderView } from '../../ladder/index.ts';
import { drawingOf } from './lanes.ts';
import { titles } from './text.ts';

const STYLE = `
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; color: #222; background: #fff; }
.row, .heads { display: grid; align-items: end; }
.heads { position: sticky; top: 0; background: #fff; border-bottom: 1px solid #999; padding-bottom: .3rem; text-align: center; }
.heads small, .time { color: #666; }
.time { font-family: monospace; }
summary { list-style: none; cursor: pointer; }
summary:hover, details[open] > summary { background: #eef3fb; }
.arrow { border-bottom: 2px solid #26a; text-align: center; position: relative; padding: .25rem .8rem 0; overflow-wrap: anywhere; }
.arrow::after { position: absolute; bottom: -.62em; color: #26a; }
.right::after { content: "\\25B6"; right: -.2em; }
.left::after { content: "\\25C0"; left: -.2em; }
.error { border-color: #b32; }
.error::after { color: #b32; }
.local { border-bottom-style: dotted; }
pre { background: #f5f5f5; padding: .6rem; overflow-x: auto; margin: .4rem 0 .8rem; }
@media (prefers-color-scheme: dark) {
  body, .heads { color: #ddd; background: #181818; }
  pre { background: #242424; }
  summary:hover, details[open] > summary { background: #22303f; }
}`;

/** The page; a message opens at a click and shows its text. */
export function ladderHtml(view: LadderView): string {
  const { lanes, rungs } = drawingOf(view);
  // Each lane is two columns wide, so that arrows begin and end in its middle.
  const columns = `grid-template-columns: 8rem repeat(${lanes.length * 2}, minmax(4rem, 1fr))`;
  const heads = lanes.map(
    ({ name, address }, lane) =>
      `<div style="grid-column: ${2 + lane * 2} / span 2"><b>${escaped(name)}</b><br><small>${escaped(address)}</small></div>`,
  );
  const rows = rungs.map(({ message, from, to, label }, at) => {
    const [left, right] = from < to ? [from, to] : [to, from];
    const kind = [from < to ? 'right' : 'left', isError(label) ? 'error' : '', message.wire ? '' : 'local'];
    const where = `grid-column: ${3 + left * 2} / ${3 + right * 2}`;
    const title = `${at + 1}: ${message.time} ${message.from || '-'} → ${message.to || '-'}, Call-ID ${message.callid}`;
    return `<details><summary class="row" style="${columns}"><span class="time">${escaped(message.time.slice(11, 23))}</span><span class="arrow ${kind.filter(Boolean).join(' ')}" style="${where}">${escaped(label)}</span></summary>
<small>${escaped(title)}</small><pre>${escaped(message.text.replaceAll('\r\n', '\n'))}</pre></details>`;
  });
  const [title = 'call'] = titles(view);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}
</style>
</head>
<body>
${titles(view)
  .map((line) => `<p>${escaped(line)}</p>`)
  .join('\n')}
<div class="heads" style="${columns}">${heads.join('')}</div>
${rows.join('\n')}
</body>
</html>
`;
}

function isError(label: string): boolean {
  return /^[3-6]\d\d /.test(label);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
