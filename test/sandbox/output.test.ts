import { expect } from 'chai';
import { InvalidOutputError, parseOutput } from '../../runtime/sandbox/host/output.ts';

describe('sandbox: output of a script', () => {
  it('is parsed', () => {
    expect(
      parseOutput('[["call",1,"a.b",[2]],["cancel",1],["log","warn","x"],["limit","cpuMs"],["done",1,{"v":2}]]'),
    ).to.deep.equal([
      { kind: 'call', id: 1, name: 'a.b', args: [2] },
      { kind: 'cancel', id: 1 },
      { kind: 'log', level: 'warn', text: 'x' },
      { kind: 'limit', limit: 'cpuMs' },
      { kind: 'done', value: 1, vars: { v: 2 } },
    ]);
    expect(parseOutput('')).to.deep.equal([]);
  });

  for (const body of [
    '{}',
    '[1]',
    '[["call","1","a",[]]]',
    '[["call",1,"a",{}]]',
    '[["limit","toString"]]',
    '[["log","x","y"]]',
    '[["own"]]',
  ]) {
    it(`is refused: ${body}`, () => {
      expect(() => parseOutput(body)).to.throw(InvalidOutputError);
    });
  }
});
