import { truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { expect } from 'chai';
import { SmtpMailer } from '../../components/index.ts';
import { systemClock } from '../../runtime/runs/clock.ts';
import { startRun } from '../../runtime/runs/run/start-run.ts';
import type { RunOutcome } from '../../runtime/runs/run/outcome.ts';
import { silentLog } from '../support/log.ts';
import { openMailServer } from '../support/mail-server.ts';
import { problems, program, services, simulate } from '../support/scenarios.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FROM = 'calls@example.com';
const scenario = (settings: string): string => `id: mails
start: tell
blocks:
  tell:
    email: ${settings}
    next: over
  over:
    return: { value: "\${tell}" }
`;

describe('component email', () => {
  const folder = temporaryFolder();
  let server: Awaited<ReturnType<typeof openMailServer>>;
  before(async () => {
    server = await openMailServer();
    await writeFile(path.join(folder, 'greeting.wav'), 'RIFF of a test');
    await writeFile(path.join(folder, 'long.wav'), '');
    await truncate(path.join(folder, 'long.wav'), 21 * 1024 * 1024);
  });
  after(() => server.close());

  /** The end of a run that sends a mail, without a call. */
  function sent(settings: string, mail = new SmtpMailer({ url: server.url, from: FROM })): Promise<RunOutcome> {
    const find = (_domain: string, name: string): string | undefined =>
      ['greeting.wav', 'long.wav'].includes(name) ? path.join(folder, name) : undefined;
    const recordings = { ...services().recordings, find };
    const all = services({ mail, recordings });
    return startRun(program(scenario(settings)), { clock: systemClock, services: all, log: silentLog }).finished;
  }
  const codeOf = async (...given: Parameters<typeof sent>): Promise<string | undefined> =>
    (await sent(...given)).error?.code;

  it('hands the mail over once, with recordings, and tells who gets it', async () => {
    const outcome = await sent(
      '{ to: [a@example.com, nobody@example.com], subject: "Grüße von 102", text: "Line\\n.\\nEnd", attach: "recording:greeting.wav" }',
    );
    expect(outcome.value).to.include.keys('id');
    expect(outcome.value).to.deep.include({ accepted: ['a@example.com'], refused: ['nobody@example.com'] });
    expect(server.mails).to.have.length(1);
    const [{ from, to, source } = { from: '', to: [], source: '' }] = server.mails;
    expect({ from, to }).to.deep.equal({ from: FROM, to: ['a@example.com'] });
    expect(source)
      .to.match(/^Subject: =\?UTF-8\?/m)
      .and.to.include('filename=greeting.wav');
    expect(source).to.include(Buffer.from('RIFF of a test').toString('base64'));
  });

  it('tells why a mail was not sent', async () => {
    const to = (address: string, more = ''): string => `{ to: ${address}, subject: s${more} }`;
    expect(await codeOf(to('nobody@example.com'))).to.equal('mail_refused');
    const spammer = new SmtpMailer({ url: server.url, from: 'spam@example.com' });
    expect(await codeOf(to('a@example.com'), spammer)).to.equal('mail_refused');
    expect(await codeOf(to('a@example.com'), new SmtpMailer(undefined))).to.equal('unavailable');
    expect(await codeOf(to('a@example.com', ', attach: long.wav'))).to.equal('mail_too_large');
    expect(await codeOf(to('a@example.com', ', attach: lost'))).to.equal('no_such_recording');
    const gone = new SmtpMailer({ url: 'smtp://127.0.0.1:1', from: FROM });
    expect(await codeOf(to('a@example.com'), gone)).to.equal('mail_failed');
    const remote = new SmtpMailer({ url: server.url.replace('127.0.0.1', 'me:secret@127.0.0.2'), from: FROM });
    expect(await codeOf(to('a@example.com'), remote)).to.equal('mail_failed');
  });

  it('leaves a server that hangs after the timeout, in whatever state', async () => {
    expect(await codeOf('{ to: slow@example.com, subject: s, timeout: 300ms }')).to.equal('mail_timeout');
    const ended: Promise<unknown>[] = [];
    const mute: Server = createServer((socket) => {
      socket.on('error', () => undefined).resume();
      ended.push(once(socket, 'close'));
    }).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as { port: number };
    const silent = new SmtpMailer({ url: `smtp://127.0.0.1:${port}`, from: FROM });
    expect(await codeOf('{ to: a@example.com, subject: s, timeout: 300ms }', silent)).to.equal('mail_timeout');
    expect(ended).to.have.length(1);
    await Promise.all(ended);
    mute.close();
  });

  it('refuses what would begin another header field or recipient', async () => {
    for (const settings of [
      '{ to: "a@example.com\\nBcc: b@example.com", subject: s }',
      '{ to: "a@example.com, b@example.com", subject: s }',
      '{ to: "A <a@example.com>", subject: s }',
      '{ to: a@example.com, subject: "s\\r\\nBcc: b@example.com" }',
      '{ to: [], subject: s }',
    ])
      expect(problems(scenario(settings)), settings).to.have.length.greaterThan(0);
    const late = scenario('{ to: "${call.number}", subject: s }').replace(
      'start:',
      'parameters: { x: string }\nstart:',
    );
    const { outcome, events } = await simulate(late.replace('${call.number}', '${x}'), {}, { args: { x: 'a@b.c\nd' } });
    expect(outcome.error?.code).to.equal('setting');
    expect(events.join('\n')).not.to.include('email');
  });

  it('is shown in a simulation, and not sent', async () => {
    const { outcome } = await simulate(scenario('{ to: a@example.com, subject: s }'));
    expect(outcome.value).to.deep.include({ accepted: ['a@example.com'], refused: [] });
  });
});
