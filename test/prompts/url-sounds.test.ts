import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { GuardedHttpClient } from '../../components/http/client.ts';
import { Nursery, programRunner } from '../../runtime/processes/index.ts';
import { Converter, SoundCache, UrlSounds } from '../../runtime/prompts/index.ts';
import { freshnessOf } from '../../runtime/prompts/freshness.ts';
import { ScenarioError } from '../../runtime/language/errors.ts';

const SOUND = join(import.meta.dirname, 'sounds/600.mp3');

describe('sounds of URLs', () => {
  let folder: string;
  let server: Server;
  let base: string;
  let asked: string[];
  let answer: (response: ServerResponse, condition: string | undefined) => void;
  const nursery = new Nursery(0);
  const { signal } = new AbortController();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ringmaster-urls-'));
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      answer(response, request.headers['if-modified-since']);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => (asked = []));
  after(async () => {
    nursery.close();
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });

  async function open(name: string, { waitMs = 30_000, maxFiles = 100 } = {}) {
    const stale: string[] = [];
    const cache = await SoundCache.open(join(folder, name), { maxBytes: 10_000_000, maxFiles });
    const sounds = new UrlSounds({
      downloads: new GuardedHttpClient({ hosts: ['127.0.0.1'], networks: ['127.0.0.1'] }),
      cache,
      converter: new Converter({ run: programRunner(nursery), maxSeconds: 60 }),
      waitMs,
      maxBytes: 1_000_000,
      onStale: (url) => stale.push(url),
      failed: (code, message) => new ScenarioError(code, message),
    });
    return { sounds, cache, stale };
  }
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: { readonly code?: string; readonly message: string }) => error.code ?? error.message,
    );

  it('are fetched once for all callers who wait, also when one of them hangs up', async () => {
    const sound = await readFile(SOUND);
    answer = (response) => response.writeHead(200, { 'cache-control': 'max-age=60' }).end(sound);
    const { sounds, cache } = await open('once');
    const gone = AbortSignal.abort(new Error('the caller hung up'));
    const leaves = new AbortController();
    const waiting = [signal, signal, leaves.signal].map((each) => sounds.open(`${base}/a.mp3`, each));
    const left = codeOf(waiting[2] as Promise<string>);
    leaves.abort(new Error('left'));
    expect(await left).to.equal('left');
    const [first, second] = await Promise.all(waiting.slice(0, 2));
    expect(first).to.equal(second);
    expect((await readFile(first as string)).toString('latin1', 0, 4)).to.equal('RIFF');
    // A fresh sound needs no wait.
    expect(await sounds.open(`${base}/a.mp3`, gone)).to.equal(first);
    expect(asked).to.deep.equal(['/a.mp3']);
    expect(cache.count).to.equal(1);
  });

  it('of a server that does not answer end in time, and an old sound is played meanwhile', async () => {
    const sound = await readFile(SOUND);
    const { sounds, stale } = await open('silent', { waitMs: 10_000 });
    answer = (response) => response.writeHead(200, { 'cache-control': 'max-age=0' }).end(sound);
    const file = await sounds.open(`${base}/old`, signal);
    // A server in trouble.
    answer = (response) => response.writeHead(503).end();
    expect(await sounds.open(`${base}/old`, signal)).to.equal(file);
    expect(stale).to.deep.equal([`${base}/old`]);
    answer = () => undefined;
    const begun = performance.now();
    expect(await codeOf(sounds.open(`${base}/new`, signal))).to.equal('http_timeout');
    expect(performance.now() - begun).to.be.above(9900);
    // A new answer that is no sound is not hidden by the old one.
    answer = (response) => response.end('<html>');
    expect(await codeOf(sounds.open(`${base}/old`, signal))).to.equal('is no WAV, MP3, Opus in Ogg, or FLAC');
  });

  it('go to no host and no address that the operator does not allow, also by a redirect', async () => {
    const { sounds } = await open('guarded');
    answer = (response) => response.writeHead(302, { location: 'http://localhost:1/a.wav' }).end();
    expect(await codeOf(sounds.open(`${base}/redirect`, signal))).to.equal('http_forbidden');
    expect(await codeOf(sounds.open('http://169.254.169.254/a.wav', signal))).to.equal('http_forbidden');
    expect(asked).to.deep.equal(['/redirect']);
  });

  it('live as long as their server says', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    const seconds = (headers: Record<string, string>) => freshnessOf(headers, now).seconds;
    expect(seconds({})).to.equal(60);
    expect(seconds({ 'cache-control': 'public, max-age=300', age: '100' })).to.equal(200);
    expect(seconds({ 'cache-control': 'max-age=999999999' })).to.equal(86_400);
    expect(seconds({ 'cache-control': 'no-cache, max-age=300' })).to.equal(0);
    expect(seconds({ expires: 'Thu, 01 Jan 2026 00:10:00 GMT' })).to.equal(600);
    expect(seconds({ expires: '0' })).to.equal(0);
    expect(freshnessOf({ 'cache-control': 'no-store' })).to.deep.include({ noStore: true, staleIfError: false });
    expect(freshnessOf({ 'cache-control': 'must-revalidate' }).staleIfError).to.equal(false);
  });
});

describe('the folder of converted sounds', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'ringmaster-cache-'))));
  after(() => rm(folder, { recursive: true }));

  it('holds no more files and bytes than allowed, and finds them again after a start', async () => {
    const limits = { maxBytes: 100, maxFiles: 3 };
    const cache = await SoundCache.open(folder, limits);
    const keep = async (key: string, bytes: number): Promise<void> => {
      const work = cache.work();
      await writeFile(work, new Uint8Array(bytes));
      await cache.keep(key, work);
    };
    for (const key of ['a', 'b', 'c']) await keep(key, 10);
    expect(cache.find('a')).to.equal(join(folder, 'a.wav'));
    await keep('d', 10);
    // `b` was used longest ago.
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.find(key) !== undefined)).to.deep.equal(['a', 'c', 'd']);
    await keep('e', 85);
    expect([cache.count, cache.bytes]).to.deep.equal([2, 95]);
    const again = await SoundCache.open(folder, limits);
    expect([again.count, again.bytes]).to.deep.equal([2, 95]);
    await rm(join(folder, 'e.wav'));
    expect(again.find('e')).to.equal(undefined);
    expect(again.bytes).to.equal(10);
  });
});
