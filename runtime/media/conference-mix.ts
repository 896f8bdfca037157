/** A conference on the media server. */
import type { MediaEndpoint } from './endpoint.ts';
import type { EndpointServer } from './endpoint-server.ts';
import { MediaError } from './media-error.ts';
import type { RecordingNotices } from './recording-notices.ts';

/** A media server event about a member. */
export type MemberNotice = 'talking' | 'silent' | 'muted' | 'unmuted';

export interface JoinOptions {
  readonly moderator: boolean;
  /** Enters without hearing and being heard, until `letIn`. */
  readonly apart: boolean;
  /** Members hear only music until a moderator enters. */
  readonly waitForModerator: boolean;
  /** Music for a lone member. */
  readonly music: boolean;
  /** The member has entered; called before any later event about it. */
  readonly onEntered: (member: number) => void;
  readonly onNotice: (notice: MemberNotice) => void;
}

/** Milliseconds for the media server to execute a command. */
const ANSWER_MS = 5000;
/** mod_conference cuts longer lists of members. */
const LIST_LENGTH = 100;
const HOLD_MUSIC = 'local_stream://moh';

const NOTICES: Readonly<Record<string, MemberNotice>> = {
  'start-talking': 'talking',
  'stop-talking': 'silent',
  'mute-member': 'muted',
  'unmute-member': 'unmuted',
};

/**
 * A conference of the media server (mod_conference): it begins with its first member and ends with its last. All
 * commands use one connection and are executed in order.
 */
export class ConferenceMix {
  /** Media server of the conference: only endpoints there can join. */
  readonly server: EndpointServer;
  readonly #name: string;
  readonly #api: (command: string) => Promise<string>;
  readonly #recordings: Pick<RecordingNotices, 'completed' | 'forget'>;

  /**
   * @param name unique on the media server, without spaces
   * @param api sends a command on the media server's own connection
   * @param recordings reports complete recordings of conferences
   */
  constructor(
    name: string,
    server: EndpointServer,
    api: (command: string) => Promise<string>,
    recordings: Pick<RecordingNotices, 'completed' | 'forget'>,
  ) {
    this.server = server;
    this.#name = name;
    this.#api = api;
    this.#recordings = recordings;
  }

  /**
   * Adds an endpoint to the conference.
   * @returns the member's id, and a promise of its leaving for any reason
   * @throws MediaError when it is not admitted; EndpointGone
   */
  async join(
    endpoint: MediaEndpoint,
    options: JoinOptions,
  ): Promise<{ readonly member: number; readonly left: Promise<void> }> {
    if (options.music || options.waitForModerator) await endpoint.set('conference_moh_sound', HOLD_MUSIC);
    const entered = Promise.withResolvers<number>();
    const stopWatching = endpoint.watchConference((action, member) => {
      if (action === 'add-member') {
        options.onEntered(member);
        entered.resolve(member);
      }
      const notice = NOTICES[action];
      if (notice !== undefined) options.onNotice(notice);
    });
    const flags = [
      ...(options.moderator ? ['moderator'] : []),
      ...(options.apart ? ['mute', 'deaf'] : []),
      ...(options.waitForModerator ? ['wait-mod'] : []),
    ];
    const left = endpoint
      .conference(`${this.#name}@default${flags.length === 0 ? '' : `++flags{${flags.join('|')}}`}`)
      .finally(stopWatching);
    left.then(
      () => entered.reject(new MediaError('the media server did not let the caller into the conference')),
      (error: unknown) => entered.reject(error),
    );
    const member = await within(entered.promise, 'let the caller into the conference');
    return { member, left: left.catch(() => undefined) };
  }

  /** Removes a member; its endpoint is free when `left` settles. A departed member is ignored. */
  async remove(member: number): Promise<void> {
    await this.#command(`hup ${member}`);
  }

  /**
   * Sets what a member hears of others.
   * @throws MediaError
   */
  async relate(listener: number, speakers: readonly number[], hears: boolean): Promise<void> {
    const commands: Promise<string>[] = [];
    for (let at = 0; at < speakers.length; at += LIST_LENGTH) {
      const list = speakers.slice(at, at + LIST_LENGTH).join(',');
      commands.push(this.#command(`relate ${listener} ${list} ${hears ? 'clear' : 'nohear'}`));
    }
    await Promise.all(commands);
  }

  async mute(member: number, muted: boolean): Promise<void> {
    await this.#command(`${muted ? 'mute' : 'unmute'} ${member}`);
  }

  /** Lets in a member that entered with `apart`. */
  async letIn(member: number, muted: boolean): Promise<void> {
    await Promise.all([...(muted ? [] : [this.#command(`unmute ${member}`)]), this.#command(`undeaf ${member}`)]);
  }

  /** Plays a sound to all members; settles when it has begun. */
  async play(source: string): Promise<void> {
    const answer = await this.#command(`play ${source}`);
    if (answer.startsWith('-ERR')) throw new MediaError(`the media server cannot play ${source}: ${answer.trim()}`);
  }

  /**
   * Records the whole conference into a WAV file, until it ends.
   * @returns a promise of the complete file
   * @throws MediaError
   */
  async record(file: string): Promise<{ readonly completed: Promise<unknown> }> {
    const completed = this.#recordings.completed(file);
    const answer = await this.#command(`recording start ${file}`);
    if (!answer.startsWith('-ERR')) return { completed };
    this.#recordings.forget(file);
    throw new MediaError(`the media server cannot record to ${file}: ${answer.trim()}`);
  }

  #command(command: string): Promise<string> {
    return within(this.#api(`conference ${this.#name} ${command}`), command.split(' ', 1)[0] ?? '');
  }
}

async function within<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new MediaError(`the media server did not ${what} within ${ANSWER_MS} ms`)),
      ANSWER_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
