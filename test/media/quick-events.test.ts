import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import type { EslEvent } from 'drachtio-modesl';
import { readEventsQuickly } from '../../runtime/media/quick-events.ts';

const require = createRequire(import.meta.url);

type ParserClass = new (socket: Socket) => { on(name: string, listener: (...values: never[]) => void): unknown };

/** The library's own parser, which no other test or room has changed. */
function untouched(): ParserClass {
  const files = ['Parser', 'Event'].map((name) => require.resolve(`drachtio-modesl/lib/esl/${name}`));
  const changed = files.map((file) => require.cache[file]);
  for (const file of files) Reflect.deleteProperty(require.cache, file);
  const own = require('drachtio-modesl/lib/esl/Parser') as ParserClass;
  files.forEach((file, index) => {
    require.cache[file] = changed[index];
  });
  return own;
}

function quick(): ParserClass {
  readEventsQuickly();
  return (require('drachtio-modesl') as { Parser: ParserClass }).Parser;
}

interface Heard {
  readonly event: Pick<EslEvent, 'headers' | 'type' | 'subclass' | 'body'>;
  readonly headers: unknown;
  readonly body: unknown;
}

/** What a parser reports of these octets when they come in pieces of this size. */
function heard(Parser: ParserClass, octets: Buffer, piece: number): { events: Heard[]; errors: number } {
  const socket = new EventEmitter();
  const parser = new Parser(socket as Socket);
  const events: Heard[] = [];
  let errors = 0;
  parser.on('error', () => {
    errors += 1;
  });
  parser.on(
    'esl::event',
    ({ headers: fields, type, subclass, body: own }: EslEvent, headers: unknown, body: unknown) => {
      events.push({ event: { headers: fields, type, subclass, body: own }, headers, body });
    },
  );
  for (let at = 0; at < octets.length; at += piece) socket.emit('data', octets.subarray(at, at + piece));
  return { events, errors };
}

const PLAIN = 'Event-Name: DTMF\nvariable_from: %22Ann%22%20%3Csip%3Aann%40a%3E\nEmpty: \nNo-Value\n\n';
const JSON_EVENT = JSON.stringify({
  'Event-Name': 'CUSTOM',
  'Event-Subclass': 'conference::maintenance',
  ...Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`variable_${index}`, `value ${index}`])),
  'Content-Length': '3',
  _body: 'abc',
});

const STREAM = Buffer.from(
  [
    'Content-Type: auth/request\n\n',
    'Content-Type: command/reply\nReply-Text: +OK accepted\n\n',
    'Content-Type: command/reply\nReply-Text: -ERR no such channel\nJob-UUID: a: b\n\n',
    'Content-Type: command/reply\nEvent-Name: CHANNEL_DATA\nvariable_switch_r_sdp: v%3D0%0D%0As%3D%C3%A4\n\n',
    'Content-Type: api/response\nContent-Length: 9\n\n+OK caf\u00E9\n',
    `Content-Type: text/event-plain\nContent-Length: ${PLAIN.length}\n\n${PLAIN}`,
    `Content-Length: ${JSON_EVENT.length}\nContent-Type: text/event-json\n\n${JSON_EVENT}`,
    'Content-Type: text/disconnect-notice\nContent-Length: 0\n\n',
  ].join(''),
);

describe('media: messages of the event socket', () => {
  for (const piece of [1, 7, 1000, STREAM.length])
    it(`are read as the library reads them, in pieces of ${piece} octets`, () => {
      const own = heard(quick(), STREAM, piece);
      expect(own.events).to.have.length(8);
      expect(own).to.deep.equal(heard(untouched(), STREAM, piece));
    });

  it('keep a value whose octets are not UTF-8 as it came, where the library ends the process', () => {
    const message = Buffer.from('Content-Type: command/reply\nvariable_sip_from_display: Andr%E9\n\n');
    expect(() => heard(untouched(), message, 100)).to.throw(URIError);
    const [reply] = heard(quick(), message, 100).events;
    expect(reply?.headers).to.deep.equal({ 'Content-Type': 'command/reply', variable_sip_from_display: 'Andr%E9' });
  });

  it('report an event that is not JSON as an error, and the next ones are read', () => {
    const broken = 'Content-Type: text/event-json\nContent-Length: 1\n\n{';
    const { events, errors } = heard(quick(), Buffer.concat([Buffer.from(broken), STREAM]), 1000);
    expect(errors).to.equal(1);
    expect(events).to.have.length(8);
  });
});
