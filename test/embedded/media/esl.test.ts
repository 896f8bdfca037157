import { expect } from 'chai';
import fc from 'fast-check';
import {
  type EslCommand,
  EslCommandParser,
  EslFrameError,
} from '../../../runtime/embedded/media/esl/command-parser.ts';
import { encodeValue, eventFrame } from '../../../runtime/embedded/media/esl/event.ts';
import { Subscription } from '../../../runtime/embedded/media/esl/subscription.ts';

function parseAll(pieces: readonly Uint8Array[]): EslCommand[] {
  const parser = new EslCommandParser();
  const commands: EslCommand[] = [];
  for (const piece of pieces) parser.push(piece, (command) => commands.push(command));
  return commands;
}

const STREAM = [
  'api status\n\n',
  '\n\nsendmsg 0976\nexecute-app-name: set\nexecute-app-arg: lab_a=b: c\ncall-command: execute\n\n',
  'sendevent X\r\nContent-Length: 5\r\n\r\nab\n\nc',
  'exit\n\n',
].join('');

describe('embedded media server: event socket frames', () => {
  it('reads commands with headers and bodies, for any division of the stream', () => {
    const bytes = Buffer.from(STREAM);
    const whole = parseAll([bytes]);
    expect(whole.map(({ line }) => line)).to.deep.equal(['api status', 'sendmsg 0976', 'sendevent X', 'exit']);
    expect(Object.fromEntries(whole[1]?.headers ?? [])).to.deep.equal({
      'execute-app-name': 'set',
      'execute-app-arg': 'lab_a=b: c',
      'call-command': 'execute',
    });
    expect(whole[2]?.body).to.equal('ab\n\nc');
    const single = parseAll(Array.from(bytes, (octet) => Uint8Array.of(octet)));
    expect(single).to.deep.equal(whole);
  });

  it('refuses oversized commands and broken lengths', () => {
    const push =
      (text: string): (() => void) =>
      () =>
        new EslCommandParser().push(Buffer.from(text), () => undefined);
    expect(push('x'.repeat(70_000))).to.throw(EslFrameError, '64 KiB');
    expect(push('a\nContent-Length: -1\n\n')).to.throw(EslFrameError, 'Content-Length');
    expect(push('a\nContent-Length: 99999999\n\n')).to.throw(EslFrameError, 'Content-Length');
  });

  it('any division of a mutated stream gives the same commands or a refusal, within the memory limit (seeded fuzz)', () => {
    const base = Buffer.from(STREAM);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { maxLength: 8 }),
        fc.array(fc.nat(base.length), { maxLength: 8 }),
        (edits, cuts) => {
          const bytes = Buffer.from(base);
          for (const [at, octet] of edits) bytes[at] = octet;
          const borders = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
          const pieces = borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
          const run = (list: readonly Uint8Array[]): unknown => {
            try {
              return parseAll(list).map(({ line, body }) => [line, body]);
            } catch (error) {
              expect(error).to.be.instanceOf(EslFrameError);
              return 'refused';
            }
          };
          expect(run(pieces)).to.deep.equal(run([bytes]));
        },
      ),
      { seed: 20261121, numRuns: 3000, interruptAfterTimeLimit: 4000 },
    );
  });

  it('encodes plain values like the real server', () => {
    expect(encodeValue('sofia/drachtio_mrf/nobody@127.0.0.1:5070')).to.equal(
      'sofia/drachtio_mrf/nobody%40127.0.0.1%3A5070',
    );
    expect(encodeValue("it's two words, +OK\n<ä>")).to.equal("it's%20two%20words,%20%2BOK%0A%3C%C3%A4%3E");
  });

  it('frames events in both formats with their lengths in octets', () => {
    const event = {
      name: 'X',
      subclass: undefined,
      headers: { 'Event-Name': 'X', a: 'ä', list: ['1', '2'] },
      body: undefined,
    };
    const json = eventFrame(event, 'json');
    expect(json).to.equal(
      'Content-Length: 43\nContent-Type: text/event-json\n\n{"Event-Name":"X","a":"ä","list":["1","2"]}'.replace(
        '43',
        String(Buffer.byteLength('{"Event-Name":"X","a":"ä","list":["1","2"]}')),
      ),
    );
    const plain = eventFrame({ ...event, body: 'öh' }, 'plain');
    expect(plain).to.match(
      /^Content-Length: \d+\nContent-Type: text\/event-plain\n\nEvent-Name: X\na: %C3%A4\nlist: ARRAY%3A%3A1%7C%3A2\nContent-Length: 3\n\nöh$/,
    );
  });

  it('selects events by name, subclass and filter', () => {
    const subscription = new Subscription();
    const event = (name: string, subclass?: string, uuid = 'u1') => ({
      name,
      subclass,
      headers: { 'Unique-ID': uuid },
      body: undefined,
    });
    expect(
      subscription.subscribe(['SWITCH_EVENT_PLAYBACK_START', 'DTMF', 'CUSTOM', 'conference::maintenance']),
    ).to.equal(true);
    expect(subscription.wants(event('PLAYBACK_START'))).to.equal(true);
    expect(subscription.wants(event('CUSTOM', 'conference::maintenance'))).to.equal(true);
    expect(subscription.wants(event('CUSTOM', 'other'))).to.equal(false);
    subscription.addFilter('Unique-ID', 'u2');
    expect(subscription.wants(event('DTMF'))).to.equal(false);
    expect(subscription.wants(event('DTMF', undefined, 'u2'))).to.equal(true);
    subscription.deleteFilter('Unique-ID', undefined);
    subscription.unsubscribe(['DTMF']);
    expect(subscription.wants(event('DTMF'))).to.equal(false);
    expect(subscription.subscribe([])).to.equal(false);
  });
});
