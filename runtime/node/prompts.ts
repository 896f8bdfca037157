/** The prompts of a node, and the sounds of URLs. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { GuardedHttpClient } from '../../components/index.ts';
import type { Config } from '../config/index.ts';
import { ScenarioError } from '../language/index.ts';
import { type Nursery, programRunner } from '../processes/index.ts';
import { Converter, Prompts, SoundCache, UrlSounds } from '../prompts/index.ts';
import type { FileStore } from '../storage/index.ts';
import { NodePrompts } from './adapters/prompts.ts';
import type { Data } from './data.ts';

/** Longest sound, seconds. */
const MAX_SECONDS = 600;
/** Most files of the cache. */
const MAX_FILES = 10_000;

export interface PromptNeeds {
  readonly config: Config;
  readonly data: Pick<Data, 'directory' | 'model'> & { readonly files: FileStore };
  readonly nursery: Nursery;
  readonly http: GuardedHttpClient;
  readonly log: Logger;
}

export interface NodeSounds {
  readonly prompts: Prompts;
  /** For runs. */
  readonly port: NodePrompts;
}

export async function openPrompts({ config, data, nursery, http, log }: PromptNeeds): Promise<NodeSounds> {
  const { dataDir, prompts: limits } = config;
  const { directory, model, files } = data;
  const cache = await SoundCache.open(join(dataDir, 'sounds'), { maxBytes: limits.cacheBytes, maxFiles: MAX_FILES });
  const converter = new Converter({ run: programRunner(nursery), maxSeconds: MAX_SECONDS });
  const prompts = await Prompts.open({
    collection: directory.collections.prompts,
    files,
    cache,
    converter,
    suspect: (hashes) => model.attachments.suspect(hashes),
    maxBytes: limits.maxBytes,
  });
  const urls = new UrlSounds({
    downloads: http,
    cache,
    converter,
    waitMs: limits.waitMs,
    maxBytes: limits.maxBytes,
    onStale: (url, err) => log.warn({ url, err }, 'an old sound is played: its server could not be asked'),
    failed: (code, message) => new ScenarioError(code, message),
  });
  return { prompts, port: await NodePrompts.open(directory, { prompts, urls, waitMs: limits.waitMs }) };
}
