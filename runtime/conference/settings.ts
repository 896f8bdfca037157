/** Settings of rooms. */
import type { FeatureCode } from '../domain/index.ts';

/** Settings of the rooms of a featurecode: its `opts`, checked when written, with defaults. */
export interface RoomSettings {
  /** PIN for all callers; empty: none. */
  readonly pin: string;
  /** PIN that makes the caller a moderator; empty: none. */
  readonly moderatorPin: string;
  /** Phone numbers of moderators. */
  readonly moderators: readonly string[];
  /** True: callers hear music until a moderator enters. */
  readonly waitForModerator: boolean;
  /** True: the room ends when its last moderator leaves. */
  readonly endWithModerator: boolean;
  /** Sounds in scenario notation; empty: none. */
  readonly announceEnter: string;
  readonly announceLeave: string;
  /** Prompt for the PIN. */
  readonly pinPrompt: string;
  readonly record: 'none' | 'conference' | 'participants' | 'both';
  /** Largest number of participants; 0: unlimited. */
  readonly maxMembers: number;
  /** Music for a lone participant. */
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
