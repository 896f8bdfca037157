import { expect } from 'chai';
import { components } from '../../runtime/component-registry/index.ts';
import { checkScenario } from '../../runtime/language/checker/check-scenario.ts';

const HEAD = `id: t
start: ask
parameters:
  side: { type: string, values: [a, b] }
  open: { type: string, default: x }
variables: { yes: true }
blocks:
  ask:
    operation.refer: { dialogid: x, by: "101", referto: "103" }
    next: look
`;

/** What is found in a scenario that asks for a transfer and then looks at this. */
function found(value: string): string[] {
  const text = `${HEAD}  look:\n    set: { yes: ${JSON.stringify(`\${${value}}`)} }\n    next: end\n`;
  return checked(text).map(({ column, message, suggestion }) => `${column}: ${message}; ${suggestion}`);
}

function checked(text: string) {
  const { problems, program } = checkScenario(text, { file: 't.yaml', components });
  expect(program, JSON.stringify(problems)).not.to.equal(undefined);
  for (const { severity } of problems) expect(severity).to.equal('warning');
  return problems;
}

describe('comparisons with what cannot be', () => {
  it('are told, with the nearest value there is', () => {
    expect(found("ask.result == 'rejcted'")).to.deep.equal(['34: this is never "rejcted"; did you mean "rejected"?']);
    expect(found("'okay' != ask.result && open == 'x'")).to.have.length(1);
    expect(found("ask.result in ['ok', 'busy', 'gone']")).to.have.length(2);
    expect(found("side == 'c'")).to.deep.equal(['28: this is never "c"; there is: a, b']);
    expect(found("call.state == 'hungup'")).to.have.length(1);
    expect(found("call.ended_by == 'peer' || !(call.ended_by == 'caller')")).to.have.length(2);
  });

  it('are nothing but what is certain', () => {
    for (const value of [
      "ask.result == 'rejected'",
      "ask.result == ''",
      'ask.result != open',
      "ask.new_dialogid == 'd'",
      "open == 'anything'",
      "call.state == 'connected'",
      "side in ['a', 'b', '']",
      "[{'result': 'x'}].exists(ask, ask.result == 'x')",
      "[open].all(side, side == 'x')",
    ])
      expect(found(value), value).to.deep.equal([]);
  });

  it('include the cases of a switch', () => {
    const text = `${HEAD}  look:\n    switch: \${ask.result}\n    exits: { ok: end, rejectd: end, else: end }\n`;
    expect(checked(text).map(({ message, suggestion }) => [message, suggestion])).to.deep.equal([
      ['the value is never "rejectd"', 'did you mean "rejected"?'],
    ]);
  });
});
