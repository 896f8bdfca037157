import { expect } from 'chai';
import type { NumberFormat, Numbering } from '../../../runtime/domain/directory.ts';
import { numberInside, numberOutside } from '../../../runtime/switch/esg/numbering.ts';

const GERMANY: Numbering = { country: '49', national: '0', international: '00', format: 'e164', inside: 'national' };
const DENMARK: Numbering = { country: '45', national: '', international: '00', format: 'digits', inside: 'national' };
const AMERICA: Numbering = { country: '1', national: '1', international: '011', format: 'e164', inside: 'national' };

describe('numbers by the rules of E.164', () => {
  for (const [what, numbering, inside, outside] of [
    ['a national number', GERMANY, '030123456', '+4930123456'],
    ['a number abroad', GERMANY, '00431123456', '+431123456'],
    ['freephone', GERMANY, '08001234567', '+498001234567'],
    ['a number of a country without a national prefix', DENMARK, '33123456', '4533123456'],
    ['a number abroad from there', DENMARK, '004930123456', '4930123456'],
    ['an American number', AMERICA, '12125551234', '+12125551234'],
    ['a number abroad from America', AMERICA, '0114930123456', '+4930123456'],
  ] as const) {
    it(`${what} is ${inside} inside and ${outside} outside`, () => {
      expect(numberOutside({ numbering }, inside)).to.equal(outside);
      expect(numberInside({ numbering }, outside)).to.equal(inside);
    });
  }

  it('every format is read and written', () => {
    const all: Record<NumberFormat, string> = {
      e164: '+4930123456',
      digits: '4930123456',
      international: '004930123456',
      national: '030123456',
    };
    for (const [format, outside] of Object.entries(all) as [NumberFormat, string][])
      for (const [inside, own] of Object.entries(all) as [NumberFormat, string][]) {
        const numbering = { ...GERMANY, format, inside };
        expect(numberOutside({ numbering }, own), `${inside} to ${format}`).to.equal(outside);
        expect(numberInside({ numbering }, outside), `${format} to ${inside}`).to.equal(own);
      }
  });

  it('other numbers stay as they are', () => {
    for (const number of [
      '110',
      '112',
      '101',
      'anonymous',
      '*31030123456',
      '',
      '+',
      '01',
      `00${'1'.repeat(16)}`,
      'alice',
    ]) {
      expect(numberOutside({ numbering: GERMANY }, number)).to.equal(number);
      expect(numberInside({ numbering: GERMANY }, number)).to.equal(number);
      expect(numberOutside({ numbering: undefined }, '030123456')).to.equal('030123456');
    }
  });
});
