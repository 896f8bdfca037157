import { expect } from 'chai';
import { useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

describe('invalid POST /uc/calls', () => {
  const stage = useStage();

  const wrong: [string, object, string][] = [
    ['without from', { to: '102' }, 'from'],
    ['without to', { from: '101' }, 'to'],
    ['with an empty to', { from: '101', to: '' }, 'to'],
    ['with a response_mode of 6', { from: '101', to: '102', response_mode: 6 }, 'response_mode'],
    ['with a calltimeout that is no number', { from: '101', to: '102', calltimeout: 'soon' }, 'calltimeout'],
    ['with an unknown mode', { from: '101', to: '102', mode: 'name' }, 'mode'],
    ['with a line break in callername', { from: '101', to: '102', callername: 'a\r\nX: y' }, 'callername'],
  ];
  for (const [what, body, field] of wrong) {
    it(`${what} is refused with 400, and no phone rings`, async () => {
      const alice = await stage.phone('alice');
      const error = expectError(await stage.operate('POST', body), 400, 1400);
      expect(error.error_details?.field).to.equal(field);
      expect(error.error_details?.reason).to.be.a('string').and.not.equal('');
      expect(alice.waitingCalls).to.equal(0);
    });
  }
});
