/** The conf role of a node, wired to the rest of it. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { FarewellIndex, MemoryConferenceStore } from '../callstore/index.ts';
import { type ConferenceObserver, Conferences } from '../conference/index.ts';
import type { Config } from '../config/index.ts';
import { conferenceEvents, type EventBus } from '../events/index.ts';
import type { DomainName } from '../domain-name/index.ts';
import { isSoundProblem, resolveSound } from '../language/index.ts';
import { parseSipUri } from '../signalling/index.ts';
import type { MediaServers } from '../media/index.ts';
import type { Prompts } from '../prompts/index.ts';
import { SCENARIOS } from './project.ts';
import {
  type ConferenceRecordings,
  DEFAULT_LAYER_MS,
  type RecordedCall,
  RecordingError,
  type RecordLayers,
} from '../recording/index.ts';

export interface ConferenceNeeds {
  readonly config: Pick<Config, 'site' | 'scenarioDir'>;
  readonly store: MemoryConferenceStore;
  readonly events: EventBus;
  /** Keeps the ends of conferences for other nodes. */
  readonly farewells: FarewellIndex | undefined;
  readonly observer: ConferenceObserver;
  /** Called after each event of a room. @param number to dial */
  readonly changed: (domain: DomainName, number: string) => void;
  /** Called after the end of each room. @param number to dial */
  readonly over: ((domain: DomainName, number: string) => void) | undefined;
  readonly log: Logger;
  /** Converts sound files of other kinds than WAV. */
  readonly prompts: Pick<Prompts, 'playable'>;
  /** Answers the live call of this id, for its recording. */
  readonly liveCall: (dialogid: string) => RecordedCall | undefined;
  readonly layers: Pick<RecordLayers, 'add' | 'remove'>;
  readonly conferences: Pick<ConferenceRecordings, 'start'>;
  /** Read during a call, therefore after the connection of the media server. */
  readonly media: () => Pick<MediaServers, 'conference'>;
}

/** The WAV of a sound file; silence for one that is no sound. */
async function playableOrNothing({ prompts, log }: ConferenceNeeds, file: string): Promise<string> {
  try {
    return await prompts.playable(file, AbortSignal.timeout(CONVERSION_MS));
  } catch (err) {
    log.error({ err, file }, 'a sound of a conference featurecode cannot be played');
    return NOTHING;
  }
}

/** Milliseconds for the conversion of a sound that participants wait for. */
const CONVERSION_MS = 5000;
/** Played in place of a missing configured sound. */
const NOTHING = 'silence_stream://100';

export function openConferences(needs: ConferenceNeeds): Conferences {
  const { config, store, events, observer, log, media } = needs;
  const published = conferenceEvents(events);
  const prompts = [join(config.scenarioDir, 'prompts'), join(SCENARIOS, 'examples', 'prompts')];
  const playable = (file: string): Promise<string> => playableOrNothing(needs, file);
  return new Conferences(
    {
      events: {
        emit: (domain, type, data, users) => {
          published.emit(domain, type, data, users);
          const number = typeof data['uri'] === 'string' ? parseSipUri(data['uri'])?.user : undefined;
          if (number !== undefined) needs.changed(domain, number);
        },
      },
      farewells: needs.farewells,
      observer,
      ...(needs.over && { over: needs.over }),
      site: config.site,
      log,
      mix: (name, on) => media().conference(name, on),
      sound: async (text) => {
        for (const folder of prompts) {
          const sound = resolveSound(text, folder);
          if (isSoundProblem(sound) || 'text' in sound) continue;
          if ('file' in sound) return playable(sound.file);
          return 'tone' in sound ? `tone_stream://${sound.tone}` : `silence_stream://${Math.max(1, sound.silenceMs)}`;
        }
        log.error({ sound: text }, 'a sound of a conference featurecode does not exist');
        return NOTHING;
      },
      recordVoice: async ({ domain, dialogid, layer }) => {
        const call = needs.liveCall(dialogid);
        const leg = call?.legs.find(({ endpoint }) => endpoint !== undefined);
        if (call === undefined || leg === undefined) throw new Error('the call is over');
        await needs.layers.add({ call, leg, domain, layer, timeoutMs: DEFAULT_LAYER_MS });
        return async () => {
          try {
            await needs.layers.remove(call, domain, layer);
          } catch (error) {
            // It ended with the call.
            if (!(error instanceof RecordingError)) throw error;
          }
        };
      },
      recordRoom: (conference, record) => needs.conferences.start(conference, record),
    },
    store,
  );
}
