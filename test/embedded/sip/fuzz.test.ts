import { expect } from 'chai';
import fc from 'fast-check';
import { parseAppMessage, parseCommand } from '../../../runtime/embedded/sip/app-command.ts';
import { AppFrameError, AppFramer, encodeFrame } from '../../../runtime/embedded/sip/app-framer.ts';
import { SipParseError } from '../../../runtime/embedded/stack/index.ts';
import { AppClient } from './app-client.ts';
import { RawNode } from './raw-node.ts';

const BOUNDS = { seed: 20_261_121, numRuns: 2000, interruptAfterTimeLimit: 2500, markInterruptAsFailure: false };

const field = fc.string({ unit: fc.constantFrom(...'abZ09-;=@.:, |#'.split('')), maxLength: 20 });
const command = fc
  .tuple(
    fc.constantFrom('authenticate', 'route', 'remove_route', 'ping', 'sip', 'proxy', 'nosuch', ''),
    fc.array(field, { maxLength: 12 }),
    fc.constantFrom(
      '',
      '\r\n',
      '\r\nINVITE sip:a@127.0.0.1:1 SIP/2.0\r\n\r\n',
      '\r\nSIP/2.0 200 OK\r\n\r\n',
      '\r\nBYE x SIP/2.0\r\nFrom: <\r\nRoute: <<>>\r\nCSeq: x\r\n\r\n',
      '\r\nMESSAGE sip:a@127.0.0.1:1 SIP/2.0\r\nTo: "\r\nContact: *\r\nContent-Length: 99\r\n\r\nx',
      '\r\nCANCEL sip: SIP/2.0',
    ),
  )
  .map(([type, fields, text]) => `id|${type}|${fields.join('|')}${text}`);

describe('app protocol under fuzz', function () {
  this.timeout(20_000);

  it('frames are read back unchanged, for any division', () => {
    const payloads = fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(payloads, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (all, sizes) => {
        const texts = all.map((bytes) => Buffer.from(bytes).toString('latin1'));
        const stream = Buffer.concat(texts.map((text) => encodeFrame(text)));
        const framer = new AppFramer();
        const out: string[] = [];
        for (let at = 0, i = 0; at < stream.length; i += 1) {
          const size = sizes[i % sizes.length] ?? 1;
          for (const frame of framer.push(Buffer.from(stream.subarray(at, at + size))))
            out.push(frame.toString('latin1'));
          at += size;
        }
        expect(out).to.deep.equal(texts);
      }),
      BOUNDS,
    );
  });

  it('any bytes are frames or an AppFrameError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          new AppFramer().push(Buffer.from(bytes));
        } catch (error) {
          if (!(error instanceof AppFrameError)) throw error;
        }
      }),
      BOUNDS,
    );
  });

  it('any payload is a command, with a message or a SipParseError', () => {
    fc.assert(
      fc.property(fc.oneof(command, fc.string({ maxLength: 200 })), (text) => {
        const parsed = parseCommand(Buffer.from(text));
        if (parsed.type !== 'sip') return;
        try {
          parseAppMessage(parsed.text);
        } catch (error) {
          if (!(error instanceof SipParseError)) throw error;
        }
      }),
      BOUNDS,
    );
  });

  it('a server still answers after any commands', async () => {
    const node = await RawNode.start(['options']);
    try {
      const commands = fc.sample(command, { seed: BOUNDS.seed, numRuns: 600 });
      for (let at = 0; at < commands.length; at += 10) {
        // A protocol error closes the connection, so each ten commands have a new one.
        const app = await AppClient.connect(node.server.addresses.app);
        app.send('a|authenticate|s|');
        for (const text of commands.slice(at, at + 10)) app.send(text);
        app.end();
        await app.closed;
      }
      node.app.send('last|ping');
      expect((await node.frame()).fields.slice(2)).to.deep.equal(['last', 'OK', 'pong']);
    } finally {
      await node.close();
    }
  });
});
