import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { promptFile, promptLanguages, readSound, soundProblem } from '../../runtime/language/prompts.ts';
import type { PromptPort } from '../../runtime/runs/ports/prompts.ts';
import { program, services, simulate } from '../support/scenarios.ts';

describe('sounds as authors write them', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'ringmaster-names-'));
    await mkdir(path.join(folder, 'prompts/de/hours'), { recursive: true });
    await mkdir(path.join(folder, 'prompts/de-AT'));
    await writeFile(path.join(folder, 'secret.wav'), '');
    await symlink('../secret.wav', path.join(folder, 'prompts/leads-out.wav'));
    for (const file of ['hello.wav', 'hello.mp3', 'de/hello.mp3', 'de-AT/hello.flac', 'de/hours/open.ogg', 'bye.opus'])
      await writeFile(path.join(folder, 'prompts', file), '');
  });
  after(() => rm(folder, { recursive: true }));
  const prompts = (): string => path.join(folder, 'prompts');

  it('are looked up from the most exact language to all languages', () => {
    expect(promptLanguages('de-AT')).to.deep.equal(['de-AT', 'de', '']);
    expect(promptLanguages('zh-Hant-TW')).to.deep.equal(['zh-Hant-TW', 'zh-Hant', 'zh', '']);
    expect(promptLanguages('en')).to.deep.equal(['en', '']);
  });

  it('name files of a language, with or without an ending, and none outside the folder', () => {
    const found = (name: string, language: string) => {
      const file = promptFile(prompts(), name, language);
      return typeof file === 'string' ? path.relative(prompts(), file) : file;
    };
    expect(found('hello', '')).to.equal('hello.wav');
    expect(found('hello', 'de')).to.equal('de/hello.mp3');
    expect(found('hello', 'de-AT')).to.equal('de-AT/hello.flac');
    expect(found('hello.mp3', 'de')).to.equal('de/hello.mp3');
    expect(found('hello.wav', 'de')).to.equal(undefined);
    expect(found('hours/open', 'de')).to.equal('de/hours/open.ogg');
    expect(found('leads-out', '')).to.deep.include({ message: '"leads-out" leads outside the prompts folder' });
    for (const name of ['../secret.wav', '/etc/passwd', 'a\\b', 'a\0b'])
      expect(readSound(name)).to.deep.include({ message: `"${name}" is outside the prompts folder` });
  });

  it('are checked against the folder; a name that the domain may have is a warning', () => {
    const problem = (text: string) => soundProblem(text, prompts());
    for (const text of ['hello', 'hours/open', 'bye', 'https://a.example/b.mp3', 'tone:%(1,2,3)', 'say:Hello'])
      expect(problem(text), text).to.equal(undefined);
    expect(problem('closed')).to.deep.equal({
      message: 'there is no prompt "closed"',
      warning: 'there is no prompt "closed" in the folder, so the domain must have it',
      suggestion: 'upload it to the domain, by POST /domain/prompts',
    });
    expect(problem('closed.wav')).to.deep.equal({ message: 'there is no prompt "closed.wav"' });
    expect(problem('Welcome to our shop')).to.not.have.property('warning');
    expect(problem('https://')).to.deep.include({ message: '"https://" is no URL' });
  });

  it('take a prompt of the domain before a file of the same language, and a closer language before both', async () => {
    const scenario = program('id: t\nstart: a\nblocks:\n  a: { answer: , next: b }\n  b: { play: hello, next: end }\n');
    const playedIn = async (language: string, uploaded: readonly string[]) => {
      const played: string[] = [];
      const play = (file: string): Promise<string> => {
        played.push(file);
        return Promise.resolve(file);
      };
      const own: PromptPort = {
        language: () => language,
        has: () => false,
        uploaded: (_domain, name, of) =>
          uploaded.includes(of) ? () => play(`uploaded ${of || 'for all'} ${name}`) : undefined,
        playable: (file) => play(path.relative(prompts(), file)),
        fetched: play,
      };
      const { outcome } = await simulate(
        { ...scenario, promptsFolder: prompts() },
        {},
        { services: services({ prompts: own }) },
      );
      expect(outcome.status).to.equal('completed');
      return played.join();
    };
    expect(await playedIn('de-AT', ['de', ''])).to.equal('de-AT/hello.flac');
    expect(await playedIn('de-CH', ['de', ''])).to.equal('uploaded de hello');
    expect(await playedIn('de-CH', [''])).to.equal('de/hello.mp3');
    expect(await playedIn('fr', [''])).to.equal('uploaded for all hello');
    expect(await playedIn('fr', [])).to.equal('hello.wav');
  });
});
