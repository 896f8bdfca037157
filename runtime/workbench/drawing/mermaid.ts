import { END, type Program } from '../../language/index.ts';
import { quote } from './drawing.ts';

/** A drawing of a scenario of blocks as a Mermaid flowchart: https://mermaid.js.org/syntax/flowchart.html. */
export function mermaid(program: Program): string {
  const ids = new Map([...program.blocks.keys()].map((name, index) => [name, `b${index + 1}`]));
  const idOf = (name: string): string => (name === END ? 'stop' : (ids.get(name) ?? name));
  const lines = ['flowchart TD', `  start([${quote(program.id)}])`];
  for (const [name, { component }] of program.blocks)
    lines.push(`  ${idOf(name)}[${quote(`${name}\n${component.name}`)}]`);
  lines.push('  stop([end])', `  start --> ${idOf(program.start)}`);
  for (const [name, { exits }] of program.blocks) {
    for (const [target, labels] of byTarget(exits)) {
      const label = labels.join() === 'next' ? '' : `|${quote(labels.join(', '))}|`;
      lines.push(`  ${idOf(name)} -->${label} ${idOf(target)}`);
    }
  }
  program.interrupts.forEach(({ kind, name, target }, index) => {
    lines.push(`  on${index + 1}{{${quote(`on ${kind} ${name}`.trim())}}} -.-> ${idOf(target)}`);
  });
  if (program.finally !== undefined) lines.push(`  finally([finally]) --> ${idOf(program.finally)}`);
  return `${lines.join('\n')}\n`;
}

/** One arrow for all exits with the same target. */
function byTarget(exits: ReadonlyMap<string, string>): Map<string, string[]> {
  const targets = new Map<string, string[]>();
  for (const [exit, target] of exits) targets.set(target, [...(targets.get(target) ?? []), exit]);
  return targets;
}
