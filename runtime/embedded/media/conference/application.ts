import { type ApplicationStart, NO_RESPONSE } from '../channel/application.ts';
import { parseEntry } from './entry.ts';
import type { ConferenceTable } from './table.ts';

/**
 * `conference <name>[@<profile>][+<pin>][+flags{...}]`. A channel that is not admitted goes on with the next command.
 */
export const conferenceApplication =
  (conferences: ConferenceTable): ApplicationStart =>
  (channel, data) => {
    const entry = parseEntry(data);
    if (entry === undefined) return NO_RESPONSE;
    return conferences.join(channel, entry) ?? NO_RESPONSE;
  };
