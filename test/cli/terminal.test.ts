import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freeSipPort, freeTcpPort, freeUdpRange } from '../support/ports.ts';
import { Command } from './command.ts';

const LAUNCHER = fileURLToPath(new URL('../../runtime/cli/ringmaster.mjs', import.meta.url));
const CTRL_C = '\x03';
const ESCAPE = '\x1b';
const LINE = /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: database open {"kind":"pglite"/m;

describe('ringmaster start at a terminal', function () {
  this.timeout(60_000);
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringmaster-terminal-'));
    const { from, to } = await freeUdpRange(100);
    env = {
      RINGMASTER_DATA_DIR: folder,
      RINGMASTER_HTTP_PORT: '0',
      RINGMASTER_SIP_PORT: String(await freeSipPort()),
      RINGMASTER_RTP_PORTS: `${from}-${to}`,
    };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Starts a node at a pseudo-terminal, ends it with Ctrl-C after the ready message, and returns what it wrote. */
  async function atTerminal(more: Record<string, string> = {}): Promise<string> {
    const child: ChildProcess = spawn(
      'script',
      ['-qefc', `exec "${process.execPath}" "${LAUNCHER}" start`, '/dev/null'],
      {
        env: { PATH: process.env['PATH'], TERM: 'xterm', ...env, ...more },
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    let output = '';
    let isEnding = false;
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (isEnding || !output.includes('Ringmaster is ready') || !output.includes('database open')) return;
      isEnding = true;
      child.stdin?.write(CTRL_C);
    });
    const [code] = (await once(child, 'close')) as [number];
    expect(code, output).to.equal(0);
    return output.replaceAll('\r\n', '\n');
  }

  it('writes the addresses first, then readable log lines with colours', async function () {
    if (process.platform !== 'linux') this.skip();
    const output = await atTerminal();
    expect(output).to.match(/^\nRingmaster is ready\.\n\n {2}HTTP {2}http:\/\/127\.0\.0\.1:\d+\/\n/);
    expect(output).to.match(
      / {2}API {3}http:\S+\/rest\/v1\/docs\n {2}Docs {2}http:\S+\/docs\/operating\/README\.md\n {2}SIP {3}127/,
    );
    expect(output).to.contain(`${ESCAPE}[32mINFO${ESCAPE}[39m: `);
    expect(output).to.not.contain('"level"');
  });

  it('writes the port for SIP over WebSocket', async () => {
    const port = await freeTcpPort();
    const node = await Command.run(['start'], { ...env, RINGMASTER_WS_PORT: String(port) });
    await node.printed(new RegExp(`^ {2}WS {4}ws://127\\.0\\.0\\.1:${port} `, 'm'));
    await node.terminate();
  });

  it('writes no colours with NO_COLOR', async function () {
    if (process.platform !== 'linux') this.skip();
    const output = await atTerminal({ NO_COLOR: '1' });
    expect(output).to.match(LINE).and.not.contain(ESCAPE);
  });

  it('writes JSON elsewhere, and readable lines without colours when asked', async () => {
    const json = await Command.run(['start'], env);
    await json.printed(/^\{"level":30,.*"msg":"database open"\}\n/m);
    await json.printed(/Ringmaster is ready/);
    await json.terminate();
    const pretty = await Command.run(['start'], { ...env, RINGMASTER_LOG_FORMAT: 'pretty' });
    await pretty.printed(LINE);
    expect((await pretty.terminate()).out)
      .to.match(/^\nRingmaster is ready/)
      .and.not.contain(ESCAPE);
  });

  it('writes the log of a start that fails', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const failing = { ...env, RINGMASTER_HTTP_PORT: String(port), RINGMASTER_LOG_FORMAT: 'pretty' };
    const { code, out, err } = await (await Command.run(['start'], failing)).ended;
    other.close();
    expect(code).to.equal(1);
    expect(out).to.match(LINE);
    expect(err).to.match(/^ringmaster: .*in use/);
  });

  it('refuses an unknown log format', async () => {
    const { code, err } = await (await Command.run(['start'], { RINGMASTER_LOG_FORMAT: 'xml' })).ended;
    expect(code).to.equal(1);
    expect(err).to.equal('ringmaster: RINGMASTER_LOG_FORMAT: found "xml", expected json, pretty\n');
  });
});

describe('ringmaster login at a terminal', () => {
  it('asks for the password and does not show it', async function () {
    if (process.platform !== 'linux') this.skip();
    this.timeout(60_000);
    let asked = '';
    const server = createHttpServer((request, response) => {
      request.on('data', (chunk: Buffer) => (asked += chunk.toString()));
      request.on('end', () => response.end('{"session_token":"TOKEN"}'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address is an AddressInfo
    const { port } = server.address() as AddressInfo;
    const command = `exec "${process.execPath}" "${LAUNCHER}" login shop.example root --url http://127.0.0.1:${port}`;
    const child = spawn('script', ['-qefc', command, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const before = output;
      output += chunk.toString();
      if (output.includes('password: ') && !before.includes('password: ')) child.stdin.write('sesame\r');
    });
    const [code] = (await once(child, 'close')) as [number];
    server.close();
    expect([code, output.replaceAll('\r\n', '\n')]).to.deep.equal([0, 'password: \nTOKEN\n']);
    expect(asked).to.include('"pwd":"sesame"');
  });
});
