import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RestAnswer } from '../phones/rest-client.ts';
import { eventually } from '../support/eventually.ts';
import { useStage } from '../support/stage.ts';
import { expectError } from './expectations.ts';

const SOUNDS = join(import.meta.dirname, '../prompts/sounds');
const PROMPTS = '/rest/v1/domain/prompts';
const IVR = '/rest/v1/domain/ivrscripts';
const LISTEN_MS = 20_000;

interface Prompt {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly kind: string;
  readonly milliseconds: number;
  readonly hasha: string;
  readonly filename: string;
}

describe('prompts', () => {
  /** A server of sounds: by path, what it answers. */
  const answers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const asked: { readonly url: string; readonly condition: string | undefined }[] = [];
  let server: Server;
  let base = '';
  const endless: NodeJS.Timeout[] = [];

  const stage = useStage({
    env: async () => {
      server = createServer((request, response) => {
        asked.push({ url: request.url ?? '', condition: request.headers['if-none-match'] });
        answers.get(request.url ?? '')?.(request, response);
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return {
        RINGMASTER_PROMPT_MB: '1',
        RINGMASTER_PROMPT_WAIT: '10',
        RINGMASTER_SCENARIO_HOSTS: '*',
        RINGMASTER_SCENARIO_NETWORKS: '127.0.0.1',
      };
    },
  });
  after(() => {
    for (const timer of endless) clearInterval(timer);
    server.closeAllConnections();
    server.close();
  });

  const file = (name: string): Promise<Buffer> => readFile(join(SOUNDS, name));

  /** Sends a body as it is. */
  const upload = async (
    method: string,
    path: string,
    body: string | Uint8Array<ArrayBuffer> | FormData,
    { type, login = 'admin' }: { type?: string; login?: string } = {},
  ) => {
    const { authorization } = await stage.rest(login);
    const headers = { ...authorization, ...(type === undefined ? {} : { 'content-type': type }) };
    const answer = await fetch(stage.node.base + path, { method, headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  const uploaded = async (query: string, name: string): Promise<Prompt> => {
    const answer = await upload('POST', `${PROMPTS}?${query}`, new Uint8Array(await file(name)), {
      type: 'audio/x-any',
    });
    expect(answer.status, answer.text).to.equal(200);
    return JSON.parse(answer.text) as Prompt;
  };
  const send = async (method: string, path: string, body?: unknown, login = 'admin'): Promise<RestAnswer> =>
    (await stage.rest(login)).send(method, path, body === undefined ? {} : { body });
  const script = async (code: string, source: string, format = 'yaml'): Promise<void> => {
    const answer = await send('POST', IVR, { code, scriptdata: { format, source } });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json<{ serving: object }>().serving, answer.text).to.deep.equal({ version: 1 });
  };
  const playing = (more: string, sound = 'greet'): string =>
    `${more}start: a\nblocks:\n  a: { answer: , next: b }\n  b: { play: { sounds: ${sound}, repeat: 9 }, next: end }\n`;
  /** Dials the number and expects the tone. */
  const hears = async (number: string, frequency: number): Promise<void> => {
    const call = await (await stage.phone('alice')).call(number);
    await call.answered();
    await call.hears(frequency, { withinMs: LISTEN_MS });
    await call.hangup();
  };
  /** The value that a module returns to a caller who waits for its end. */
  const valueOf = async (code: string): Promise<unknown> => {
    const call = await (await stage.phone('alice')).call(`*55${code}`);
    await call.answered();
    return eventually(async () => {
      const runs = (await send('GET', '/rest/v1/api/runs')).json<{ id: string; scenario: string; status: string }[]>();
      const run = runs.findLast(({ scenario }) => scenario === code);
      expect(run?.status).to.equal('completed');
      return (await send('GET', `/rest/v1/api/runs/${run?.id}`)).json<{ outcome: { value: unknown } }>().outcome.value;
    }, LISTEN_MS);
  };

  it('are uploaded, listed, read, replaced, renamed and deleted', async () => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(await file('700.opus'))]), 'hours/open.opus');
    form.set('language', 'DE-at');
    const made = await upload('POST', PROMPTS, form);
    expect(made.status, made.text).to.equal(200);
    const prompt = JSON.parse(made.text) as Prompt;
    expect(prompt).to.deep.include({ name: 'open', language: 'de-AT', kind: 'opus', filename: 'open.opus' });
    const hash = createHash('sha256').update(await file('700.opus'));
    expect(prompt.hasha).to.equal(`sha256;${hash.digest('hex').toUpperCase()}`);

    const one = `${PROMPTS}/${prompt.id}`;
    const listed = await send('GET', `${PROMPTS}?filter=["==",["property","language"],"de-AT"]&mask=name,milliseconds`);
    expect(listed.json()).to.deep.equal([{ name: 'open', milliseconds: prompt.milliseconds }]);
    expect((await send('LOOKUP', PROMPTS, { name: 'open' })).json()).to.deep.equal([prompt.id]);
    const original = await fetch(`${stage.node.base}${one}/file`, { headers: (await stage.rest()).authorization });
    expect(original.headers.get('content-type')).to.equal('audio/ogg');
    expect(Buffer.from(await original.arrayBuffer()).equals(await file('700.opus'))).to.equal(true);
    const heard = await fetch(`${stage.node.base}${one}/file?wav=true`, {
      headers: (await stage.rest()).authorization,
    });
    expect(Buffer.from(await heard.arrayBuffer()).toString('latin1', 0, 4)).to.equal('RIFF');

    const replaced = await upload('PUT', `${one}/file`, new Uint8Array(await file('600.mp3')), { type: 'audio/mpeg' });
    expect(JSON.parse(replaced.text)).to.deep.include({ id: prompt.id, name: 'open', kind: 'mp3' });
    const renamed = await send('PATCH', one, { name: 'closed', language: '' });
    expect(renamed.json()).to.deep.include({ name: 'closed', language: '', kind: 'mp3' });
    expect((await send('DELETE', one)).status).to.equal(204);
    expectError(await send('GET', one), 404, 1404);
  });

  it('with a wrong type, size, sound, name or domain are refused, and nothing changes', async () => {
    const { id } = await uploaded('name=kept', '600.mp3');
    const other = (await send('POST', '/rest/v1/domain/domains', { name: 'prompts.local' })).json<{ id: string }>();
    const before = (await send('GET', PROMPTS)).json();
    const sound = new Uint8Array(await file('600.mp3'));
    const type = 'audio/mpeg';
    const refusals = [
      [upload('POST', `${PROMPTS}?name=a`, '%PDF-1.7', { type: 'application/pdf' }), 415, 'content-type'],
      [upload('POST', `${PROMPTS}?name=a`, '{}', { type: 'application/json' }), 415, 'content-type'],
      [upload('POST', `${PROMPTS}?name=a`, '<html>', { type }), 415, 'file'],
      [
        upload('POST', `${PROMPTS}?name=a`, Buffer.concat([Buffer.from('ID3'), Buffer.alloc(5000)]), { type }),
        422,
        'file',
      ],
      [upload('POST', `${PROMPTS}?name=a`, new Uint8Array(1024 * 1024 + 1), { type }), 413, 'file'],
      [upload('POST', `${PROMPTS}?name=kept`, sound, { type }), 409, 'name'],
      [upload('POST', `${PROMPTS}?name=a.mp3`, sound, { type }), 400, 'name'],
      [upload('POST', `${PROMPTS}?name=../other/greet`, sound, { type }), 400, 'name'],
      [upload('POST', `${PROMPTS}?name=a&language=deutsch-`, sound, { type }), 400, 'language'],
      [upload('POST', `${PROMPTS}?name=a&domain_id=${other.id}x`, sound, { type }), 403, 'domain_id'],
      [upload('POST', PROMPTS, sound, { type }), 400, 'name'],
      [send('PATCH', `${PROMPTS}/${id}`, { file: {} }), 400, 'file'],
      [send('PATCH', `${PROMPTS}/${id}`, { hasha: 'x' }), 400, 'hasha'],
    ] as const;
    for (const [refusing, status, field] of refusals) {
      const { status: found, text } = await refusing;
      expect(found, text).to.equal(status);
      expect((JSON.parse(text) as { error_details: { field: string } }).error_details.field, text).to.equal(field);
    }
    expect((await upload('PUT', `${PROMPTS}/nobody/file`, sound, { type })).status).to.equal(404);
    expect((await upload('POST', `${PROMPTS}?name=a`, sound, { type, login: 'alice' })).status).to.equal(403);
    expect((await send('GET', PROMPTS)).json()).to.deep.equal(before);
    await send('DELETE', `/rest/v1/domain/domains/${other.id}`);
  });

  it('are heard in the language of the route, the scenario, the domain, or as the scenario sets it', async () => {
    await uploaded('name=greet', '600.mp3');
    await uploaded('name=greet&language=de', '700.opus');
    await uploaded('name=greet&language=nl', '800.flac');
    await script('greets', playing(''));
    await script('greets_nl', playing('language: nl\n'));
    await script(
      'greets_set',
      'start: a\nblocks:\n  a: { answer: , next: l }\n  l: { language: de-CH, next: b }\n  b: { play: greet, next: end }\n',
    );
    const target = { type: 'scenario', code: 'greets_nl', language: 'de-AT' };
    expect((await send('POST', '/rest/v1/domain/routes', { to_pattern: '5991', target })).status).to.equal(200);
    await hears('*55greets', 600);
    await hears('*55greets_nl', 800);
    await hears('5991', 700);
    await hears('*55greets_set', 700);
    const setting = await send('POST', '/rest/v1/domain/settings', { key: 'language', value: 'nl' });
    expect(setting.status, setting.text).to.equal(200);
    await hears('*55greets', 800);
    expectError(await send('POST', '/rest/v1/domain/settings', { key: 'language', value: 7 }), 400, 1400);
    expect((await send('DELETE', `/rest/v1/domain/settings/${setting.json<Prompt>().id}`)).status).to.equal(204);
  });

  it('say the digits of a phrase', async () => {
    await uploaded('name=digits/4', '600.mp3');
    await uploaded('name=digits/2', '800.flac');
    await script(
      'digits',
      'start: a\nblocks:\n  a: { answer: , next: b }\n  b: { phrase: { value: "42", as: digits }, next: end }\n',
    );
    const call = await (await stage.phone('alice')).call('*55digits');
    await call.answered();
    await call.hears(600, { withinMs: LISTEN_MS });
    await call.hears(800, { withinMs: LISTEN_MS });
    await call.hangup();
  });

  it('of a URL are fetched once, and asked again by their entity tag', async () => {
    const sound = await file('800.flac');
    answers.set('/kept', (_, response) => response.writeHead(200, { 'cache-control': 'max-age=600' }).end(sound));
    answers.set('/tagged', ({ headers }, response) => {
      const head = { etag: '"1"', 'cache-control': 'no-cache' };
      if (headers['if-none-match'] === '"1"') response.writeHead(304, head).end();
      else response.writeHead(200, head).end(sound);
    });
    answers.set('/moved', (_, response) => response.writeHead(302, { location: '/kept' }).end());
    for (const path of ['kept', 'tagged', 'moved']) await script(path, playing('', `"${base}/${path}"`));
    for (const path of ['kept', 'kept', 'tagged', 'tagged', 'moved']) await hears(`*55${path}`, 800);
    expect(asked).to.deep.equal([
      { url: '/kept', condition: undefined },
      { url: '/tagged', condition: undefined },
      { url: '/tagged', condition: '"1"' },
      { url: '/moved', condition: undefined },
      { url: '/kept', condition: undefined },
    ]);
  });

  it('of a URL that is too large, endless, no sound or private are errors within the time, and other calls go on', async () => {
    answers.set('/huge', (_, response) => response.writeHead(200, { 'content-length': 2_000_000_000 }).write('x'));
    answers.set('/large', (_, response) => response.end(Buffer.alloc(1_200_000)));
    answers.set('/endless', (_, response) => {
      response.writeHead(200);
      endless.push(setInterval(() => response.write('RIFF'), 50));
    });
    answers.set('/text', (_, response) => response.end('<html>nothing to hear</html>'));
    answers.set('/missing', (_, response) => response.writeHead(404).end());
    answers.set('/private', (_, response) => response.writeHead(302, { location: 'http://10.1.2.3/a.wav' }).end());
    const paths = ['huge', 'large', 'endless', 'text', 'missing', 'private'];
    await script(
      'tries',
      `export default async function (call) {
        await call.answer();
        const found = {};
        await Promise.all(${JSON.stringify(paths)}.map(async (path) => {
          const begun = Date.now();
          try { await call.play({ file: ${JSON.stringify(base)} + '/' + path }); found[path] = 'played'; }
          catch (error) { found[path] = error.code; }
          if (Date.now() - begun > 15000) found[path] += ', too late';
        }));
        return found;
      }`,
      'js',
    );
    await script('hums', playing('', '"tone:%(60000,0,440)"'));
    const other = await (await stage.phone('bob')).call('*55hums');
    await other.answered();
    const value = valueOf('tries');
    await other.hears(440, { withinMs: LISTEN_MS });
    expect(await value).to.deep.equal({
      huge: 'http_too_large',
      large: 'http_too_large',
      endless: 'http_timeout',
      text: 'no_sound',
      missing: 'http_failed',
      private: 'http_forbidden',
    });
    await other.hears(440, { withinMs: LISTEN_MS });
    await other.hangup();
  });
});
