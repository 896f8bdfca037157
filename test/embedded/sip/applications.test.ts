import { expect } from 'chai';
import { AppClient } from './app-client.ts';
import { RawNode } from './raw-node.ts';
import { until } from './srf-client.ts';

describe('applications of the embedded SIP server', () => {
  let node: RawNode;
  afterEach(() => node.close());

  it('must authenticate before anything but pings', async () => {
    node = await RawNode.start([]);
    for (const frame of [
      '1|route|invite',
      '1|sip||\r\nOPTIONS sip:a@127.0.0.1 SIP/2.0\r\n\r\n',
      '1|proxy|x',
      '1|nosuch',
    ]) {
      const app = await AppClient.connect(node.server.addresses.app);
      app.send('0|ping');
      expect((await node.frame(app)).text).to.match(/\|response\|0\|OK\|pong$/);
      app.send(frame);
      expect((await node.frame(app)).text).to.match(/\|response\|1\|NO\|not authenticated$/);
      await app.closed;
    }
  });

  it('take turns, and the others continue when one disconnects', async () => {
    node = await RawNode.start(['options']);
    const other = await AppClient.connect(node.server.addresses.app);
    await node.login(other, ['options']);
    for (let i = 0; i < 4; i += 1) await node.say('OPTIONS', [], { branch: `o${i}` });
    for (const app of [node.app, other]) for (let i = 0; i < 2; i += 1) await node.frame(app);
    other.destroy();
    await other.closed;
    await until(() => node.server.stats.apps === 1, 'one application');
    for (let i = 0; i < 2; i += 1) await node.say('OPTIONS', [], { branch: `p${i}` });
    for (let i = 0; i < 2; i += 1) await node.frame(node.app);
  });

  it('leave no caller waiting when they disconnect', async () => {
    node = await RawNode.start(['invite', 'options']);
    await node.say('INVITE', ['Contact: <sip:alice@127.0.0.1>']);
    await node.frame();
    await node.say('OPTIONS');
    await node.frame();
    node.app.destroy();
    expect((await node.heard('503')).cseq.method).to.equal('INVITE');
    expect((await node.heard('503')).cseq.method).to.equal('OPTIONS');
    await until(() => node.server.stats.pending === 0, 'nothing pending');
  });

  it('leave no called phone ringing when they disconnect, even one that answers at that moment', async () => {
    node = await RawNode.start([]);
    const contact = `Contact: <sip:b@127.0.0.1:${node.phone.port}>`;
    node.app.send(`1|sip||\r\nINVITE sip:bob@127.0.0.1:${node.phone.port} SIP/2.0\r\n\r\n`);
    const invite = await node.heard('INVITE');
    await node.answer(invite, '180 Ringing', 't', [contact]);
    await node.frame();
    await node.frame();
    node.app.destroy();
    await node.heard('CANCEL');
    await node.answer(invite, '200 OK', 't', [contact]);
    await node.heard('ACK');
    const bye = await node.heard('BYE');
    await node.answer(bye, '200 OK', 't');
    await until(() => node.server.stats.dialogs + node.server.stats.pending === 0, 'nothing left');
  });

  it('keep their dialogs across a restart, in both directions', async () => {
    node = await RawNode.start(['invite']);
    await node.say('INVITE', [`Contact: <sip:alice@127.0.0.1:${node.phone.port}>`]);
    const { fields } = await node.frame();
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    const echo = await node.frame();
    const to = (await node.heard('200')).toTag ?? '';
    await node.say('ACK', [], { branch: 'ack', to });
    await node.frame();
    node.app.destroy();
    await node.app.closed;
    await until(() => node.server.stats.apps === 0, 'no application');
    const again = await AppClient.connect(node.server.addresses.app);
    await node.login(again, ['invite']);
    await node.say('INFO', [], { to, cseq: 2 });
    const info = await node.frame(again);
    expect(info.fields[9]).to.equal(echo.fields[11]);
    again.send(`2|sip||${echo.fields[11]}\r\nBYE sip:placeholder SIP/2.0\r\n\r\n`);
    const bye = await node.heard('BYE');
    await node.answer(bye, '200 OK', 't');
    await until(() => node.server.stats.dialogs === 0, 'dialog ended');
    again.destroy();
  });

  it('with other tags do not get the dialogs', async () => {
    node = await RawNode.start(['invite']);
    await node.say('INVITE', [`Contact: <sip:alice@127.0.0.1:${node.phone.port}>`]);
    const { fields } = await node.frame();
    node.app.send(`1|sip|${fields[8]}|\r\nSIP/2.0 200 OK\r\n\r\n`);
    const to = (await node.heard('200')).toTag ?? '';
    await node.say('ACK', [], { branch: 'ack', to });
    node.app.destroy();
    const other = await AppClient.connect(node.server.addresses.app);
    other.send('a|authenticate|s|blue');
    await node.frame(other);
    await until(() => node.server.stats.apps === 1, 'only the other application');
    await node.say('BYE', [], { to, cseq: 2 });
    await node.heard('481');
    expect(node.server.stats.dialogs).to.equal(0);
    other.destroy();
  });
});
