import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { simulate } from '../support/scenarios.ts';

/** Blocks with one exit and with two; `NEXT` and `OTHER` stand for where they lead. */
const ONE_EXIT = [
  'play: welcome.wav',
  'wait: 3s',
  'wait: 1ms',
  'set: { n: "${n + 1}" }',
  'set: { n: "${n / m}" }',
  'report: step',
  'answer:',
];
const TWO_EXITS = [
  'if: n < 5\n    exits: { then: NEXT, else: OTHER }',
  'collect: { max: 1, timeout: 1s }\n    exits: { next: NEXT, timeout: OTHER }',
  'menu: { prompt: menu.wav, tries: 1, timeout: 1s }\n    exits: { 1: NEXT, failed: OTHER, error: OTHER }',
  'refer: { to: "102", timeout: 5s }\n    exits: { refused: NEXT, busy: OTHER, answered: end }',
];

/** Any scenario in which every block can be reached: a chain, with exits back and forth. */
const scenario = fc
  .array(fc.record({ two: fc.boolean(), kind: fc.nat(), other: fc.nat() }), { minLength: 1, maxLength: 8 })
  .map((blocks) => {
    const name = (index: number): string => (index < blocks.length ? `b${index}` : 'end');
    const lines = blocks.map(({ two, kind, other }, index) => {
      const next = name(index + 1);
      const body = two
        ? TWO_EXITS[kind % TWO_EXITS.length]
            ?.replace('NEXT', next)
            .replaceAll('OTHER', name(other % (blocks.length + 1)))
        : `${ONE_EXIT[kind % ONE_EXIT.length]}\n    next: ${next}`;
      return `  ${name(index)}:\n    ${body}\n`;
    });
    return `id: any
variables: { n: 0, m: 0 }
start: pick_up
finally: last
blocks:
  pick_up:
    answer:
    next: b0
${lines.join('')}  last:
    report: finished
`;
  });

const script = fc.record({
  presses: fc.array(fc.constantFrom('', '1', '2', '12#'), { maxLength: 5 }),
  hangsUpAfter: fc.integer({ min: 0, max: 20_000 }),
  target: fc.constantFrom([{ after: 10, status: 200 }], [{ after: 10, status: 486 }], [{ after: 10, status: 180 }], []),
});

describe('any scenario run', () => {
  it('ends, runs finally once and last, and leaves no call and no listener behind', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, script, async (source, caller) => {
        const { run, outcome, call, steps } = await simulate(source, caller);
        expect(run.phase).to.equal('finished');
        expect(outcome.error?.code ?? 'none').to.be.oneOf(['none', 'expression', 'call_state', 'step_limit']);
        expect(steps.filter((step) => step.startsWith('last '))).to.deep.equal(['last -> next']);
        expect(steps.at(-1)).to.equal('last -> next');
        expect(call.state).to.equal('ended');
        expect(getEventListeners(call.endSignal, 'abort').length).to.equal(0);
      }),
      { numRuns: 150 },
    );
  });
});
