import { connect } from 'node:net';
import { expect } from 'chai';
import { DEFAULT_LIMITS, DEFAULT_TCP_LIMITS } from '../../../runtime/embedded/stack/index.ts';
import { AppClient } from './app-client.ts';
import { RawNode } from './raw-node.ts';
import { until } from './srf-client.ts';

const OPTIONS = (extra = ''): string =>
  `OPTIONS sip:a@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK-h\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:a@b>\r\nCall-ID: h\r\nCSeq: 1 OPTIONS\r\n${extra}\r\n`;

/** Input of malicious or broken devices. */
describe('embedded SIP server against hostile input', () => {
  let node: RawNode;
  afterEach(async () => {
    // The server still works after each test.
    await node.say('OPTIONS', [], { branch: 'still-there' });
    await node.heard('503');
    await node.close();
  });

  /** Sends bytes over TCP; resolves with the received data when the server closes the connection. */
  function tcp(bytes: string, within = 2000): Promise<string> {
    return new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect(node.port, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')));
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new Error(`still open after ${within} ms; got ${answer}`));
      }, within);
      socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
  }

  it('answers messages with a Via with 400, and ignores the rest, over UDP', async () => {
    node = await RawNode.start([]);
    const garbage = [
      'hello world hello',
      '\xff\xfe\0\0'.repeat(30),
      'INVITE sip:a SIP/2.0\r\n\r\n',
      'SIP/2.0 200 OK\r\n\r\n',
    ];
    const refused = [
      OPTIONS().replace('CSeq: 1', 'CSeq: x'),
      OPTIONS('Content-Length: 500\r\n'),
      OPTIONS('Content-Length: -1\r\n'),
      OPTIONS('X-Flood: x\r\n'.repeat(500)),
    ];
    for (const text of [...garbage, ...refused]) await node.phone.sendUdp(text, node.port);
    for (const _ of refused) expect((await node.heard('400')).callId).to.equal('h');
    expect(node.server.stats.transactions).to.equal(0);
  });

  it('answers 400 and closes when Content-Length is missing, wrong or too large on TCP', async () => {
    node = await RawNode.start([]);
    for (const length of ['', 'Content-Length: -1\r\n', 'Content-Length: abc\r\n', 'Content-Length: 99999999\r\n']) {
      expect(await tcp(OPTIONS(length))).to.match(/^SIP\/2\.0 400 /);
    }
  });

  it('closes connections without SIP, with endless headers or endless blanks', async () => {
    node = await RawNode.start([]);
    expect(await tcp('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).to.equal('');
    expect(await tcp(`OPTIONS sip:a SIP/2.0\r\n${'X: y\r\n'.repeat(20_000)}`)).to.equal('');
    expect(await tcp(`OPTIONS sip:a SIP/2.0\r\nX: ${'y'.repeat(100_000)}`)).to.equal('');
    await until(() => node.server.stats.sockets === 2, 'every connection closed');
  });

  it('closes a connection with a slow message, or without any data', async () => {
    node = await RawNode.start([], { tcpLimits: { ...DEFAULT_TCP_LIMITS, messageTimeout: 100 } });
    expect(await tcp('OPTIONS sip:a SIP/2.0\r\nVia: S')).to.equal('');
    expect(await tcp('')).to.equal('');
    await until(() => node.server.stats.sockets === 2, 'closed');
  });

  it('closes a connection that sends requests and does not read', async () => {
    node = await RawNode.start([], { tcpLimits: { ...DEFAULT_TCP_LIMITS, maxQueuedBytes: 10_000 } });
    const socket = connect(node.port, '127.0.0.1');
    socket.pause();
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.on('error', () => undefined);
    let sent = 0;
    const flood = (): void => {
      while (!socket.destroyed && sent < 400_000) {
        sent += 1;
        const one = OPTIONS(`Content-Length: 0\r\n`).replace('z9hG4bK-h', `z9hG4bK-h${sent}`);
        if (!socket.write(one)) {
          socket.once('drain', flood);
          return;
        }
      }
    };
    flood();
    await until(() => node.server.stats.sockets === 2 || socket.destroyed, 'the server gave up', 15_000);
    socket.destroy();
    await closed;
  }).timeout(20_000);

  it('limits the number of connections', async () => {
    node = await RawNode.start([], { tcpLimits: { ...DEFAULT_TCP_LIMITS, maxConnections: 5 } });
    const sockets = Array.from({ length: 12 }, () => connect(node.port, '127.0.0.1').on('error', () => undefined));
    await until(
      () => sockets.filter(({ destroyed, readyState }) => destroyed || readyState === 'closed').length >= 7,
      'seven closed',
    );
    expect(node.server.stats.sockets).to.be.at.most(7);
    for (const socket of sockets) socket.destroy();
  });

  it('refuses messages with too many headers', async () => {
    node = await RawNode.start([], { limits: { ...DEFAULT_LIMITS, maxHeaders: 20 } });
    await node.phone.sendUdp(OPTIONS('X: y\r\n'.repeat(30)), node.port);
    expect(node.server.stats.transactions).to.equal(0);
  });

  it('survives unexpected responses, and Via, Contact, Route and To without valid addresses', async () => {
    node = await RawNode.start(['invite', 'subscribe']);
    const bad = ['<', '"', '<<>>', '*', 'sip:', '<sip:a@b', ';;;', '\x00', 'sip:[::1', '<sip:a@b:99999>'];
    for (const [i, value] of bad.entries()) {
      const branch = `b${i}`;
      await node.say('INVITE', [`Contact: ${value}`], { branch });
      await node.say('INVITE', ['Contact: <sip:a@127.0.0.1>', `Record-Route: ${value}`], { branch: `r${branch}` });
      await node.say('SUBSCRIBE', [`Contact: ${value}`, `Route: ${value}`, 'Event: x'], { branch: `s${branch}` });
      await node.phone.sendUdp(`SIP/2.0 200 OK\r\nVia: ${value}\r\nTo: ${value}\r\nCSeq: 1 INVITE\r\n\r\n`, node.port);
    }
    for (;;) {
      const text = await node.app.inbox.take(200);
      if (text === undefined) break;
      const id = text.split('|')[8] ?? '';
      node.app.send(`1|sip|${id}|\r\nSIP/2.0 200 OK\r\n\r\n`);
      node.app.send(`2|sip||call-1;from-tag=alice1\r\nBYE sip:x SIP/2.0\r\n\r\n`);
    }
  });

  for (const where of ['127.0.0.1:0', '127.0.0.1:0;transport=tcp', '127.0.0.1:1;maddr=', '127.0.0.1:1;maddr']) {
    it(`survives a phone with the contact ${where}`, async () => {
      node = await RawNode.start(['invite']);
      await node.say('INVITE', [`Contact: <sip:alice@${where}>`]);
      node.app.send(`1|sip|${(await node.frame()).fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
      const to = (await node.heard('200')).toTag ?? '';
      await node.say('ACK', [], { branch: 'ack', to });
      const asked = (text: string): boolean => text.includes('|503|') || / 503 /.test(text);
      node.app.send('2|sip||call-1;from-tag=alice1|\r\nINFO sip:x SIP/2.0\r\n\r\n');
      for (let text = ''; !asked(text); ) ({ text } = await node.frame());
    });
  }

  it('survives the response to a forwarded request with an unreachable Via', async () => {
    node = await RawNode.start(['message']);
    await node.say('MESSAGE');
    const destination = `sip:far@127.0.0.1:${node.phone.port}`;
    node.app.send(
      `1|proxy|${(await node.frame()).fields[8]}||||||1s|${destination}\r\nMESSAGE ${destination} SIP/2.0\r\n\r\n`,
    );
    const forwarded = await node.heard('MESSAGE');
    const [own = '', first = ''] = forwarded.values('via');
    for (const port of ['rport=0', 'rport=x', 'rport=99999', 'rport'])
      await node.phone.sendUdp(
        [
          'SIP/2.0 200 OK',
          `Via: ${own}`,
          `Via: ${first.replace(/rport=\d+/, port)}`,
          `From: ${forwarded.header('from')}`,
          `To: ${forwarded.header('to')};tag=far`,
          `Call-ID: ${forwarded.callId}`,
          `CSeq: ${forwarded.header('cseq')}`,
          'Content-Length: 0\r\n\r\n',
        ].join('\r\n'),
        node.port,
      );
  });

  it('closes applications with no frames, empty frames, or giant ones, and keeps the others', async () => {
    node = await RawNode.start([]);
    for (const bytes of ['hello', '#', '0#', '-5#abc', '1234567#x', ' 5#hello', '5 #hello']) {
      const app = await AppClient.connect(node.server.addresses.app);
      app.raw(bytes);
      await app.closed;
    }
    node.app.send('x|ping');
    expect((await node.frame()).fields[4]).to.equal('pong');
  });

  it('closes an application that does not authenticate in time', async () => {
    node = await RawNode.start([], { authenticateWithin: 50 });
    const silent = await AppClient.connect(node.server.addresses.app);
    const pinging = await AppClient.connect(node.server.addresses.app);
    pinging.send('1|ping');
    await Promise.all([silent.closed, pinging.closed]);
    node.app.send('2|ping');
    expect((await node.frame()).text).to.contain('OK|pong');
  });

  it('limits applications to a thousand', async () => {
    node = await RawNode.start([]);
    const many = await Promise.all(Array.from({ length: 1100 }, () => AppClient.connect(node.server.addresses.app)));
    await until(() => node.server.stats.apps === 1024, '1024 connections');
    await Promise.any(many.map(({ closed }) => closed));
    for (const app of many) app.destroy();
    await until(() => node.server.stats.apps === 1, 'one connection');
  });

  it('keeps calls of one Call-ID and tag apart: the second INVITE gets 482', async () => {
    node = await RawNode.start(['invite']);
    const contact = [`Contact: <sip:alice@127.0.0.1:${node.phone.port}>`];
    await node.say('INVITE', contact);
    const { fields } = await node.frame();
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    const echo = await node.frame();
    const to = (await node.heard('200')).toTag ?? '';
    await node.say('INVITE', contact, { branch: 'another', cseq: 2 });
    await node.heard('482');
    await node.say('ACK', [], { branch: 'ack', to });
    await node.frame();
    node.app.send(`2|sip||${echo.fields[11]}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
    const bye = await node.heard('BYE');
    expect(bye.fromTag).to.equal(to);
    await node.answer(bye, '200 OK', '');
    await until(() => node.server.stats.dialogs === 0, 'no dialog');
  });

  it('accepts a connection with messages that always straddle packets', async () => {
    const tcpLimits = { ...DEFAULT_TCP_LIMITS, messageTimeout: 150 };
    node = await RawNode.start([], { tcpLimits });
    const socket = connect(node.port, '127.0.0.1');
    let answers = 0;
    socket.on('data', (chunk) => (answers += chunk.toString('latin1').split('SIP/2.0 503').length - 1));
    const text = OPTIONS('Content-Length: 0\r\n');
    socket.write(text.slice(0, 50));
    for (let round = 0; round < 10; round += 1) {
      // Ends one message and begins the next.
      await new Promise((resolve) => setTimeout(resolve, 40));
      socket.write((text.slice(50) + text.slice(0, 50)).replaceAll('branch=z9hG4bK-h', `branch=z9hG4bK-h${round}`));
    }
    await until(() => answers === 10, 'ten answers');
    socket.destroy();
  });

  it('refuses unsendable SIP from applications', async () => {
    node = await RawNode.start([]);
    const bad = [
      'OPTIONS\r\n\r\n',
      'OPTIONS no-uri SIP/2.0\r\n\r\n',
      'OPTIONS sip: SIP/2.0\r\n\r\n',
      'OPTIONS sip:a@127.0.0.1 SIP/2.0\r\nFrom: <\r\n\r\n',
      'OPTIONS sip:a@127.0.0.1 SIP/2.0\r\nTo: "\r\n\r\n',
      'OPTIONS sip:a@127.0.0.1 SIP/2.0\r\nCSeq: nine OPTIONS\r\n\r\n',
      'OPTIONS sip:a@127.0.0.1 SIP/2.0\r\nRoute: <>\r\n\r\n',
      '',
    ];
    for (const text of bad) {
      node.app.send(`1|sip||\r\n${text}`);
      expect((await node.frame()).text, text).to.contain('|response|1|NOK|');
    }
  });
});
