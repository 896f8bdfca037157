import { type ApplicationStart, NO_RESPONSE } from '../channel/application.ts';
import { parseEntry } from './entry.ts';

/** `conference <name>[@<profile>][+<pin>][+flags{...}]`. Who is not let in goes on with the next command. */
export const conference: ApplicationStart = (channel, data) => {
  const entry = parseEntry(data);
  if (entry === undefined) return NO_RESPONSE;
  return channel.core.conferences.join(channel, entry) ?? NO_RESPONSE;
};
