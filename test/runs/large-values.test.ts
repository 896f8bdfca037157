import { expect } from 'chai';
import { ReportedFields } from '../../runtime/runs/run/reported-fields.ts';
import { Trace } from '../../runtime/runs/run/trace.ts';
import { program, simulate } from '../support/scenarios.ts';

describe('large values of a run', () => {
  it('are kept once for each reported field, up to a limit', () => {
    const fields = new ReportedFields(100);
    for (let i = 0; i < 10; i += 1) fields.set({ same: 'x'.repeat(60) });
    expect(() => fields.set({ other: 'x'.repeat(60), more: 1 })).to.throw(/100 characters/);
    expect(fields.values).to.deep.equal({ same: 'x'.repeat(60) });
    fields.set({ same: 1, other: 'x'.repeat(60) });
    expect(fields.values).to.deep.equal({ same: 1, other: 'x'.repeat(60) });
  });

  it('fail a block that reports over the limit', async () => {
    const fields = Array.from({ length: 80 }, (_, i) => `f${i}: "\${long}"`).join(', ');
    const { outcome } = await simulate(
      program(
        `id: t
variables: { long: ${'x'.repeat(15_000)} }
start: a
blocks:
  a: { report: { fields: { f1: 1 } }, next: b }
  b: { report: { fields: { ${fields} } }, next: end }
`,
      ),
    );
    expect(outcome.error).to.include({ code: 'limit', block: 'b' });
    expect(outcome.result).to.deep.equal({ f1: 1 });
  });

  it('over the limits of expressions, and keys without a name in expressions, are in the final variables', async () => {
    const text = 'x'.repeat(60_000);
    const held = await simulate(
      program(`id: t
variables: { long: ${text} }
start: a
blocks:
  a: { log: b, next: end }
`),
    );
    expect(held.outcome).to.deep.include({ status: 'completed', variables: { long: text } });
    const source = `id: t
variables: { any: null }
start: a
blocks:
  a: { log: b, next: end }
`;
    const variables = { any: JSON.parse('{"__proto__": 1, "b": 2}') as Record<string, number> };
    expect((await simulate(program(source), {}, { variables })).outcome.status).to.equal('failed');
  });

  it('are refused as data of events', async () => {
    const publishing = (data: string): string =>
      `id: t
variables: { long: ${'x'.repeat(9000)} }
start: a
blocks:
  a: { publish: { event: big, data: ${data} }, next: end }
`;
    expect((await simulate(program(publishing('{ a: "${long}" }')))).outcome.status).to.equal('completed');
    const { error } = (await simulate(program(publishing('{ a: "${long}", b: "${long}" }')))).outcome;
    expect(error?.message).to.match(/16384 characters of JSON, and has 180/);
  });

  it('are cut in the trace', () => {
    const trace = new Trace(10);
    const entry = trace.begin({ branch: 'main', block: 'a', component: 'http', start: 0 });
    entry.requested('x'.repeat(10_000));
    entry.ofLeg('x'.repeat(10_000));
    const result = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`k${i}`, 'x'.repeat(i < 999 ? 1 : 10_000)]),
    );
    entry.end(1, { exit: 'error', result, error: { code: 'internal', message: 'x'.repeat(10_000) } });
    expect(JSON.stringify(trace.entries()).length).to.be.below(12_000);
  });
});
