import process from 'node:process';
import { expect } from 'chai';
import { parseAllowEvents } from '../../runtime/signalling/allow-events.ts';
import { listValues } from '../../runtime/signalling/list-values.ts';
import { parseReferTo } from '../../runtime/signalling/refer-to.ts';
import { parseReplaces } from '../../runtime/signalling/replaces.ts';
import { parseSipUri } from '../../runtime/signalling/sip-uri.ts';
import { unsupportedRequest } from '../../runtime/signalling/unsupported-request.ts';

/** Octets: as long as a SIP server lets the head of a message be. */
const LENGTH = 64_000;
/** Milliseconds of processor time: what looks back or ahead again and again takes seconds. */
const WITHIN_MS = 250;

const request = (header: string) => ({ method: 'INVITE', uri: 'sip:a', body: 'v=0', get: () => header });
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'a list of values': listValues,
  'a SIP URI': parseSipUri,
  'Refer-To': parseReferTo,
  Replaces: parseReplaces,
  'Allow-Events': parseAllowEvents,
  'Require, Content-Type and the like': (text) => unsupportedRequest(request(text)),
};
const PIECES = [
  ',',
  '",',
  '"",',
  ',<',
  '<',
  '>',
  '<>',
  '""',
  '\\"',
  ';',
  ' ',
  '; ',
  '\t',
  '=',
  ';a=',
  '@',
  ':',
  '%',
  '%4',
  '?',
  '&',
  'sip:',
  '<sip:',
  'a',
  '-',
  '[',
  ']:',
  ';tag=',
  ';from-tag=',
  'Replaces=',
  '1',
  'é',
];

describe('hostile headers', () => {
  for (const [name, read] of Object.entries(READERS)) {
    it(`are parsed quickly: ${name}`, () => {
      const slow: string[] = [];
      for (const piece of PIECES) {
        for (const start of ['', '"', '<', '<sip:', 'sip:a@b;', ' ']) {
          const text = (start + piece.repeat(LENGTH / piece.length)).slice(0, LENGTH);
          const began = process.threadCpuUsage();
          read(text);
          const { user, system } = process.threadCpuUsage(began);
          const took = (user + system) / 1000;
          if (took > WITHIN_MS) slow.push(`${start}(${piece})+: ${Math.round(took)} ms`);
        }
      }
      expect(slow).to.deep.equal([]);
    }).timeout(60_000);
  }

  it('lists are split outside of quotes and brackets', () => {
    expect(listValues('"a, \\"b" <sip:a,b@c>;x=1,sip:d, <sip:e>')).to.deep.equal([
      '"a, \\"b" <sip:a,b@c>;x=1',
      'sip:d',
      ' <sip:e>',
    ]);
    expect(listValues('')).to.deep.equal(['']);
    expect(listValues('"open, sip:a')).to.deep.equal(['"open, sip:a']);
  });
});
