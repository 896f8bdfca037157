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
  const text = `${HEAD}  look:
    set: { yes: ${JSON.stringify(`\${${value}}`)} }
    next: end
`;
  return checked(text).map(({ column, message, suggestion }) => `${column}: ${message}; ${suggestion}`);
}

function checked(text: string) {
  const { problems, program } = checkScenario(text, { file: 't.yaml', components });
  expect(program, JSON.stringify(problems)).not.to.equal(undefined);
  for (const { severity } of problems) expect(severity).to.equal('warning');
  return problems;
}

describe('comparisons with impossible values', () => {
  it('are reported with the nearest possible value', () => {
    expect(found("ask.result == 'rejcted'")).to.deep.equal(['34: this is never "rejcted"; did you mean "rejected"?']);
    expect(found("'okay' != ask.result && open == 'x'")).to.have.length(1);
    expect(found("ask.result in ['ok', 'busy', 'gone']")).to.have.length(2);
    expect(found("side == 'c'")).to.deep.equal(['28: this is never "c"; there is: a, b']);
    expect(found("call.state == 'hungup'")).to.have.length(1);
    expect(found("call.ended_by == 'peer' || !(call.ended_by == 'caller')")).to.have.length(2);
  });

  it('are reported only when certain', () => {
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
    const text = `${HEAD}  look:
    switch: \${ask.result}
    exits: { ok: end, rejectd: end, else: end }
`;
    expect(checked(text).map(({ message, suggestion }) => [message, suggestion])).to.deep.equal([
      ['the value is never "rejectd"', 'did you mean "rejected"?'],
    ]);
  });

  it('include codes of errors that no block has', () => {
    expect(found("error.code == 'http_timeot'")).to.deep.equal([
      '34: this is never "http_timeot"; did you mean "http_timeout"?',
    ]);
    expect(found("error.code in ['call_ended', 'no_such_code', '']")).to.have.length(1);
    expect(found("error.code != 'unavailable'")).to.deep.equal([]);
    const text = `${HEAD}  look:
    switch: \${error.code}
    exits: { http_buzy: end, http_busy: end, else: end }
`;
    expect(checked(text).map(({ message, suggestion }) => [message, suggestion])).to.deep.equal([
      ['the value is never "http_buzy"', 'did you mean "http_busy"?'],
    ]);
  });

  it('know the codes of the blocks `fail`', () => {
    const after = (fail: string, condition: string): string[] => {
      const look = `  look:\n    fail: ${fail}\n    exits: { error: what }\n`;
      const what = `  what:\n    if: ${condition}\n    exits: { then: end, else: end }\n`;
      return checked(HEAD + look + what).map(({ message }) => message);
    };
    expect(after('sold_out', "error.code == 'sold_out'")).to.deep.equal([]);
    expect(after('{ code: sold_out }', "error.code == 'soldout'")).to.deep.equal(['this is never "soldout"']);
    // What an expression gives may be any code.
    expect(after('"${open}"', "error.code == 'soldout'")).to.deep.equal([]);
  });

  it('with codes of scripts and other scenarios are those with one wrong letter', () => {
    for (const block of [
      'run: other',
      'script: return ask.result',
      'serve: other',
      'await_run: { run: "${open}", timeout: 5s }',
    ]) {
      const after = (code: string): (readonly [string, string | undefined])[] => {
        const exits = block.startsWith('await')
          ? '{ next: end, timeout: end, error: what }'
          : '{ next: end, error: what }';
        const what = `  what:
    if: error.code == '${code}'
    exits: { then: end, else: end }
`;
        return checked(`${HEAD}  look:\n    ${block}\n    exits: ${exits}\n${what}`)
          .filter(({ line }) => line > 12)
          .map(({ message, suggestion }) => [message, suggestion]);
      };
      expect(after('http_timeot'), block).to.deep.equal([
        ['"http_timeot" is not one of the known values', 'did you mean "http_timeout"?'],
      ]);
      for (const own of ['http_timeout', 'sold_out', 'no_such_customer', 'typ', ''])
        expect(after(own), block + own).to.deep.equal([]);
    }
  });
});
