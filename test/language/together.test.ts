import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { runCheck } from '../../runtime/workbench/check-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SCENARIOS: Readonly<Record<string, string>> = {
  needs: `parameters: { to: string, count: { type: integer, default: 1 }, kind: { type: string, default: x, values: [x, yes] } }
start: a
blocks:
  a: { return: "\${to}" }`,
  quick: 'start: a\nblocks:\n  a: { return: 1 }',
  caller: `start: a
blocks:
  a: { run: { scenario: needs, args: { tto: "102" } }, next: b }
  b: { run: { scenario: needs, args: { to: "1", count: "3" } }, next: c }
  c: { run: { scenario: needs, args: { to: "\${call.number}", kind: ys } }, next: d }
  d: { run: needd, next: e }
  e: { run: elsewhere, next: f }
  f: { refer: { to: "1", pre_answer: needs }, exits: { refused: end } }`,
  itself: `start: a
blocks:
  a: { answer: , next: b }
  b: { run: itself, next: end }`,
  ping: 'start: a\nblocks:\n  a: { run: pong, next: end }',
  pong: 'start: a\nblocks:\n  a: { run: ping, next: end }',
  until: `parameters: { n: { type: integer, default: 3 } }
start: a
blocks:
  a: { if: n <= 0, exits: { then: end, else: b } }
  b: { run: { scenario: until, args: { n: "\${n - 1}" } }, next: end }`,
  falls: `fallback: needz
start: a
blocks:
  a: { answer: , next: end }`,
  'falls-on': `fallback: needs
start: a
blocks:
  a: { answer: , next: end }`,
  // Near to its own name, and that of a scenario elsewhere.
  alone: `fallback: alon
start: a
blocks:
  a: { answer: , next: end }`,
  circle: 'start: a\nblocks:\n  a: { run: quick, next: a }',
  storm: `start: a
blocks:
  a: { run: { scenario: quick, mode: parallel }, exits: { next: a, error: end } }`,
  careless: `start: a
blocks:
  a: { run: { scenario: needs, args: {} }, next: b }
  b: { log: "\${a.valu}", next: c }
  c: { run: careless, next: d }
  d: { pley: x.wav, next: end }`,
  counted: `start: a
blocks:
  a: { loop: { times: 3 }, exits: { each: b, done: end } }
  b: { run: quick, next: a }`,
};

describe('scenarios checked together', () => {
  const folder = temporaryFolder();
  before(async () => {
    for (const [id, text] of Object.entries(SCENARIOS))
      await writeFile(path.join(folder, `${id}.yaml`), `id: ${id}\n${text}\n`);
    await writeFile(
      path.join(folder, 'typed.js'),
      'export const parameters = { to: "string" };\nexport default async (call) => { await scenario.run({ scenario: "needs", args: { too: 1 } }); };\n',
    );
    await writeFile(
      path.join(folder, 'fallen.js'),
      "export const fallback = 'quik';\nexport default async (call) => { await call.answer(); };\n",
    );
  });

  async function found(...ids: string[]): Promise<string[]> {
    const lines: string[] = [];
    await runCheck(
      ids.map((id) => path.join(folder, id)),
      components,
      (line) => lines.push(line.slice(folder.length + 1)),
    );
    return lines;
  }

  it('finds unknown arguments of another scenario, also when only one file is checked', async () => {
    expect(await found('caller.yaml')).to.deep.equal([
      'caller.yaml:4:25: "needs" needs the parameter "to" (string); add args: { to: ... }',
      'caller.yaml:4:40: "needs" has no parameter "tto"; did you mean "to"?',
      'caller.yaml:5:49: the parameter "count" of "needs" is of type integer; write it without quotes',
      'caller.yaml:6:62: the parameter "kind" of "needs" must be one of x, yes; did you mean "yes"?',
      'caller.yaml:7:13: warning: there is no scenario "needd" here; did you mean "needs"?',
      'caller.yaml:9:38: "needs" needs the parameter "to" (string); add pre_answer_args: { to: ... }',
    ]);
    // Its other mistakes do not hide them, and one with mistakes is there.
    expect(await found('careless.yaml')).to.deep.equal([
      'careless.yaml:4:25: "needs" needs the parameter "to" (string); add args: { to: ... }',
      'careless.yaml:5:18: there is no field "valu"; did you mean "value"?',
      'careless.yaml:7:8: there is no component "pley"; did you mean "play"?',
    ]);
    expect(await found('typed.js')).to.deep.equal([
      'typed.js:2:65: "needs" needs the parameter "to" (string); add args: { to: ... }',
      'typed.js:2:82: "needs" has no parameter "too"; did you mean "to"?',
    ]);
  });

  it('finds an unknown fallback, or one with required parameters', async () => {
    expect(await found('falls.yaml', 'falls-on.yaml', 'fallen.js', 'alone.yaml')).to.deep.equal([
      'falls.yaml:2:11: warning: there is no scenario "needz" here; did you mean "needs"?',
      'falls-on.yaml:2:11: "needs" needs the parameter "to" (string); a fallback gets no arguments: give "to" a default there',
      'fallen.js:1:25: warning: there is no scenario "quik" here; did you mean "quick"?',
    ]);
  });

  it('finds scenarios that call each other without end', async () => {
    const hint = 'on every path, without end; connect an earlier exit to end, or to a block in place of a call';
    expect(await found('itself.yaml', 'ping.yaml', 'pong.yaml', 'until.yaml')).to.deep.equal([
      `itself.yaml:5:13: "itself" calls itself, ${hint}`,
      `ping.yaml:4:13: "ping" calls "pong", which calls it again, ${hint}`,
      `pong.yaml:4:13: "pong" calls "ping", which calls it again, ${hint}`,
    ]);
  });

  it('finds circles whose only wait is a scenario that never waits', async () => {
    expect(await found('circle.yaml', 'storm.yaml', 'counted.yaml')).to.deep.equal([
      'circle.yaml:4:13: these blocks loop without a wait: a; "quick" never waits; add a wait, or change an exit',
      'storm.yaml:4:25: warning: these blocks loop without a wait: a; "quick" is not waited for; count with loop, or add a wait',
    ]);
  });
});
