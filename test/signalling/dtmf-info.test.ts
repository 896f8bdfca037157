import { expect } from 'chai';
import { dtmfOfInfo } from '../../runtime/signalling/dtmf-info.ts';

const RELAY = 'application/dtmf-relay';
const PLAIN = 'application/dtmf';
const NORTEL = 'application/vnd.nortelnetworks.digits';

describe('DTMF by INFO', () => {
  for (const [type, body, key] of [
    [RELAY, 'Signal=5\r\nDuration=160\r\n', '5'],
    [RELAY, 'Signal= 5\nDuration= 250', '5'],
    [RELAY, 'signal=*\r\n', '*'],
    [RELAY, 'Duration=160\r\nSignal=#', '#'],
    [RELAY, 'Signal=10\r\nDuration=160', '*'],
    [RELAY, 'Signal=11\r\nDuration=160', '#'],
    [RELAY, 'Signal=12\r\nDuration=160', 'A'],
    [RELAY, 'Signal=d', 'D'],
    [`${RELAY}; charset=utf-8`, 'Signal=1', '1'],
    ['Application/DTMF-Relay', 'Signal=1', '1'],
    [PLAIN, '7', '7'],
    [PLAIN, '*\r\n', '*'],
    [PLAIN, '11', '#'],
    [PLAIN, 'Signal=3\r\nDuration=100', '3'],
    [NORTEL, 'p=Digit-Collection\r\ny=Digits\r\ns=success\r\nu=x\r\ni=y\r\np=Digits\r\ny=Digits\r\nd=9\r\n', '9'],
    [RELAY, 'Signal=16\r\nDuration=160', undefined],
    [RELAY, '5', undefined],
    [RELAY, '', undefined],
    [PLAIN, '12345', undefined],
    ['text/plain', 'Signal=5', undefined],
    ['application/dtmf-relayed', 'Signal=5', undefined],
  ] as const) {
    it(`${type} ${JSON.stringify(body)}: ${key ?? 'no key'}`, () => expect(dtmfOfInfo(type, body)).to.equal(key));
  }
});
