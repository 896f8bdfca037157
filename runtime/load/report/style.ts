/** The style of the page: light and dark, as the reader's system is. */
export const PAGE_STYLE = `
:root { --back: #fff; --text: #1c2430; --dim: #5b6675; --line: #dde2ea; --good: #17663a; --bad: #b3261e;
  --c1: #1f5fd0; --c2: #0b7a6f; --c3: #c2410c; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181f; --text: #e6eaf0; --dim: #a0abba; --line: #303947; --good: #6ed39a; --bad: #ff9c93;
    --c1: #82aaff; --c2: #4fd1b9; --c3: #ffab6b; }
}
body { margin: 2rem auto; max-width: 46rem; padding: 0 1rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; }
.what, .note, .none { color: var(--dim); }
.note { font-size: .85rem; }
.passed, .failed { font-weight: 600; }
.passed { color: var(--good); }
.failed { color: var(--bad); }
.figures { display: flex; flex-wrap: wrap; gap: .75rem 2rem; list-style: none; padding: 0; color: var(--dim); }
.figures b { display: block; font-size: 1.4rem; color: var(--text); }
.table { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .75rem .3rem 0; text-align: left; }
th { color: var(--dim); font-weight: 600; }
figure { margin: 1.5rem 0; }
figcaption { font-weight: 600; }
.key { font-weight: 400; color: var(--dim); margin-left: .75rem; white-space: nowrap; }
.key i { display: inline-block; width: 1rem; height: 3px; margin-right: .35rem; vertical-align: middle; }
i.s1 { background: var(--c1); } i.s2 { background: var(--c2); } i.s3 { background: var(--c3); }
svg { width: 100%; height: auto; display: block; }
polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
polyline.s1 { stroke: var(--c1); } polyline.s2 { stroke: var(--c2); } polyline.s3 { stroke: var(--c3); }
circle.s1 { fill: var(--c1); } circle.s2 { fill: var(--c2); } circle.s3 { fill: var(--c3); }
.grid { stroke: var(--line); }
.tick, .axis { fill: var(--dim); font-size: 11px; }
`;
