import { expect } from 'chai';
import fc from 'fast-check';
import { splitDtmfTail } from '../../runtime/runs/dtmf-tail.ts';

const pause = { kind: 'pause', ms: 1000 };
const digits = (text: string) => ({ kind: 'digits', digits: text });

describe('DTMF tail of a dialled number', () => {
  const table: readonly (readonly [string, string, readonly object[]])[] = [
    ['102', '102', []],
    ["102'1", '102', [digits('1')]],
    ['102,1', '102', [digits('1')]],
    ["102'", '102', []],
    ["102''1", '102', [pause, digits('1')]],
    [",12,'3", '', [digits('12'), pause, pause, digits('3')]],
    ["*70#,1'2,3#", '*70#', [digits('1'), pause, digits('2'), pause, digits('3#')]],
    ['102,,,', '102', [pause, pause]],
  ];
  for (const [to, number, tail] of table) {
    it(`${to} dials "${number}" and sends ${tail.length} steps`, () => {
      expect(splitDtmfTail(to)).to.deep.equal({ number, tail });
    });
  }

  it('keeps every digit, and pauses once for every separator after the first', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9*#]{0,8}$/), fc.stringMatching(/^[0-9*#',]{0,16}$/), (number, sequence) => {
        const { number: dialled, tail } = splitDtmfTail(`${number},${sequence}`);
        expect(dialled).to.equal(number);
        expect(tail.map((step) => (step.kind === 'pause' ? ',' : step.digits)).join('')).to.equal(
          sequence.replaceAll("'", ','),
        );
      }),
    );
  });
});
