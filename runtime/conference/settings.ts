import type { FeatureCode } from '../domain/index.ts';

/** How the rooms behind a featurecode behave: its `opts`, which were checked when they were written. What is left out is the default. */
export interface RoomSettings {
  /** Asked from everybody who dials the room; empty: nobody is asked. */
  readonly pin: string;
  /** Whoever gives this one instead is a moderator; empty: there is none. */
  readonly moderatorPin: string;
  /** Phone numbers whose callers are moderators. */
  readonly moderators: readonly string[];
  /** Until a moderator is there, all hear music. */
  readonly waitForModerator: boolean;
  /** The room ends when its last moderator leaves. */
  readonly endWithModerator: boolean;
  /** Sounds as scenario authors write them; empty: none. */
  readonly announceEnter: string;
  readonly announceLeave: string;
  /** Played while the PIN is asked for. */
  readonly pinPrompt: string;
  readonly record: 'none' | 'conference' | 'participants' | 'both';
  /** 0: as many as come. */
  readonly maxMembers: number;
  /** Music for whoever is alone. */
  readonly music: boolean;
}

const DEFAULT_PIN_PROMPT = 'tone:%(150,100,620);loops=2';
const RECORD: Readonly<Record<string, RoomSettings['record']>> = {
  true: 'conference',
  conference: 'conference',
  participants: 'participants',
  both: 'both',
};

export function roomSettings({ opts }: Pick<FeatureCode, 'opts'>): RoomSettings {
  const text = (name: string, otherwise = '') => {
    const value = opts[name];
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : otherwise;
  };
  const { moderators, max_members: maxMembers, record } = opts;
  return {
    pin: text('pin'),
    moderatorPin: text('moderator_pin'),
    moderators: Array.isArray(moderators) ? moderators.map(String) : [],
    waitForModerator: opts['wait_for_moderator'] === true,
    endWithModerator: opts['end_with_moderator'] === true,
    announceEnter: text('announce_enter'),
    announceLeave: text('announce_leave'),
    pinPrompt: text('pin_prompt', DEFAULT_PIN_PROMPT),
    record: RECORD[String(record)] ?? 'none',
    maxMembers: typeof maxMembers === 'number' && Number.isInteger(maxMembers) && maxMembers > 0 ? maxMembers : 0,
    music: opts['music'] === true,
  };
}
