/** The stores of a node: domains and phones, permissions, and the data model. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Config, isLoopback } from '../config/index.ts';
import {
  type CheckScript,
  InvalidFieldError,
  type LiveDirectory,
  openDirectory,
  openLocation,
  type PersistentLocation,
} from '../domain/index.ts';
import {
  createDemoData,
  DEMO_DOMAIN,
  createIam,
  FirstAccountsError,
  type IamOptions,
  isEmpty,
  makeAccountsOfEmptyStore,
  StoredAvatars,
} from '../iam/index.ts';
import { limitsProblem } from '../language/index.ts';
import { type Model, openModel } from '../model/index.ts';
import { AddressGuard } from '../../components/index.ts';
import { VoiceMessages } from '../voicemail/index.ts';
import { webhookCheck } from '../webhooks/index.ts';
import { AdminFileError, readAdminFile } from './admin-file.ts';
import { type Opened, opening } from './shutdown.ts';
import { checkFileStore, type FileStore, FolderFiles, openFiles, type Storage } from '../storage/index.ts';

export interface Data {
  readonly directory: LiveDirectory;
  readonly location: PersistentLocation;
  readonly iam: Awaited<ReturnType<typeof createIam>>;
  readonly model: Model;
  readonly avatars: StoredAvatars;
  /** Files of attachments, avatars, prompts and voice messages. */
  readonly files: FileStore;
  readonly voicemail: VoiceMessages;
}

/** Bytes of one voice message: an hour of telephone sound. */
const MAX_MESSAGE_BYTES = 60_000_000;

/** A store with demo accounts, whose passwords everybody knows, at an address of a network. */
class OpenDemoDataError extends Error {
  override readonly name = 'OpenDemoDataError';
  constructor() {
    super(
      `The store has the demo accounts, whose passwords are public, so RINGMASTER_HTTP_HOST and RINGMASTER_SIP_HOST may only be loopback addresses. Use an empty store and "ringmaster init" to open a node to a network.`,
    );
  }
}

export interface DataNeeds {
  readonly config: Config;
  readonly storage: Storage;
  readonly checkScript: CheckScript;
  readonly confirmToken: NonNullable<IamOptions['confirmToken']>;
  readonly log: Logger;
}

/** Opens the stores; an empty one gets its first accounts. */
export function openData({ config, storage, checkScript, confirmToken, log }: DataNeeds): Promise<Opened<Data>> {
  return opening(log, async (shutdown) => {
    await fillEmptyStore(config, storage);
    const directory = await openDirectory(storage, {
      checkScript,
      checkLimits: limitsProblem,
      checkWebhook: webhookCheck(new AddressGuard(config.webhookNetworks)),
    });
    if (!isPrivate(config) && directory.domain(DEMO_DOMAIN) !== undefined) throw new OpenDemoDataError();
    const location = await openLocation(storage, directory);
    shutdown.add('registrations', () => location.close());
    const iam = await createIam(storage, directory, {
      allowList: config.loginAllowList,
      sessionLimits: config.sessionLimits,
      confirmToken,
    });
    shutdown.add('sessions', () => iam.close());
    const files = openFiles(join(config.dataDir, 'files'), config.files);
    await checkFileStore(storage, files);
    const voicemail = new VoiceMessages({
      storage,
      files,
      suspect: (hashes) => model.attachments.suspect(hashes),
      maxBytes: MAX_MESSAGE_BYTES,
    });
    shutdown.add('voice messages', () => voicemail.close());
    const model = await openModel(storage, {
      files,
      usesFile: async (hasha) =>
        (await iam.accounts.isAvatarInUse(hasha)) ||
        (await isPromptFile(directory, hasha)) ||
        (await voicemail.isFileInUse(hasha)),
      maxFileBytes: config.maxFileBytes,
    });
    shutdown.add('data model', () => model.close());
    const avatars = new StoredAvatars(iam.accounts, {
      files,
      suspect: (hashes) => model.attachments.suspect(hashes),
      former: new FolderFiles(join(config.dataDir, 'avatars')),
    });
    await moveAvatars(avatars, storage);
    await forgetRemovedDomains(directory, voicemail);
    return { directory, location, iam, model, avatars, files, voicemail };
  });
}

/** True when a prompt has this file, or is played from it. */
async function isPromptFile({ collections: { prompts } }: LiveDirectory, hasha: string): Promise<boolean> {
  const counts = ['hasha', 'wav_hasha'].map((field) => prompts.count({ equal: { [field]: hasha } }));
  return (await Promise.all(counts)).some((count) => count > 0);
}

/** Removes the voice messages of removed domains. */
async function forgetRemovedDomains(directory: LiveDirectory, voicemail: VoiceMessages): Promise<void> {
  const sweep = (): Promise<void> => voicemail.removeOthers(directory.domains().map(({ id }) => id));
  directory.collections.domains.onChange(async ({ before, after }) => {
    if (before !== undefined && after === undefined) await sweep();
  });
  await sweep();
}

/** The accounts of the operator's file, or the demo data when only this machine can reach the node. */
async function fillEmptyStore(config: Config, storage: Storage): Promise<void> {
  if (!(await isEmpty(storage))) return;
  const { adminFile } = config;
  if (adminFile === undefined) {
    if (isPrivate(config)) await createDemoData(storage);
    return;
  }
  try {
    await makeAccountsOfEmptyStore(storage, readAdminFile(adminFile));
  } catch (cause) {
    if (!(cause instanceof FirstAccountsError || cause instanceof InvalidFieldError)) throw cause;
    throw new AdminFileError(adminFile, cause.message, { cause });
  }
}

/** True when only programs of this machine can reach the node. */
function isPrivate({ http, sip }: Config): boolean {
  return [...http.hosts, ...sip.hosts].every(isLoopback);
}

/** Avatars of former releases in the folder `avatars`. This node reads them there until they are moved. */
async function moveAvatars(avatars: StoredAvatars, { log }: Storage): Promise<void> {
  try {
    const moved = await avatars.moveFormer();
    if (moved > 0) log.info({ moved }, 'avatars were moved to the file store');
  } catch (err) {
    log.warn({ err }, 'avatars were not moved to the file store; the next start tries again');
  }
}
