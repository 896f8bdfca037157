/** What a node keeps: its domains and phones, who may do what, and the data model. */
import { join } from 'node:path';
import { type Config, isLoopback } from './config/config.ts';
import { type CheckScript, openDirectory, openLocation } from './domain/index.ts';
import { createDemoData, createIam, isEmpty, type IamOptions } from './iam/index.ts';
import { limitsProblem } from './interpreter/limits.ts';
import { openModel } from './model/index.ts';
import type { Shutdown } from './shutdown.ts';
import { openFiles } from './storage/files/index.ts';
import type { Storage } from './storage/index.ts';

export interface DataNeeds {
  readonly config: Config;
  readonly storage: Storage;
  readonly checkScript: CheckScript;
  readonly confirmToken: NonNullable<IamOptions['confirmToken']>;
}

/** Opens it, with the demo data where the store is empty and nobody but this machine can reach the node. */
export async function openData({ config, storage, checkScript, confirmToken }: DataNeeds, shutdown: Shutdown) {
  if (isLoopback(config.http.host) && isLoopback(config.sip.host) && (await isEmpty(storage))) {
    await createDemoData(storage);
  }
  const directory = await openDirectory(storage, { checkScript, checkLimits: limitsProblem });
  const location = await openLocation(storage, directory);
  shutdown.add('registrations', () => location.close());
  const iam = await createIam(storage, directory, {
    allowList: config.loginAllowList,
    sessionLimits: config.sessionLimits,
    confirmToken,
  });
  shutdown.add('sessions', () => iam.close());
  const model = await openModel(storage, {
    files: openFiles(join(config.dataDir, 'files'), config.files),
    maxFileBytes: config.maxFileBytes,
  });
  shutdown.add('data model', () => model.close());
  return { directory, location, iam, model };
}
