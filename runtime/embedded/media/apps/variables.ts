/** Applications that set channel variables. */
import { NO_RESPONSE, type ApplicationStart } from '../channel/application.ts';
import type { Channel } from '../channel/channel.ts';

function assign(channel: Channel, assignment: string): void {
  const equals = assignment.indexOf('=');
  if (equals <= 0) return;
  channel.set(assignment.slice(0, equals).trim(), assignment.slice(equals + 1));
}

/** `set name=value`; an empty value removes the variable. */
export const set: ApplicationStart = (channel, data) => {
  assign(channel, data);
  return NO_RESPONSE;
};

/** `multiset [^^<delimiter>]name=value<delimiter>name=value...`; a space is the default delimiter. */
export const multiset: ApplicationStart = (channel, data) => {
  const custom = /^\^\^(.)(.*)$/s.exec(data);
  const list = custom === null ? data.split(' ') : (custom[2] as string).split(custom[1] as string);
  for (const assignment of list) assign(channel, assignment);
  return NO_RESPONSE;
};

/** `export [nolocal:]name=value`: sets a variable, also for legs that the channel creates. */
export const exportVariable: ApplicationStart = (channel, data) => {
  const assignment = data.replace(/^nolocal:/, '');
  assign(channel, assignment);
  const name = assignment.split('=')[0]?.trim() ?? '';
  const exported = new Set((channel.get('export_vars') ?? '').split(',').filter((each) => each !== ''));
  if (name !== '') channel.set('export_vars', [...exported.add(name)].join(','));
  return NO_RESPONSE;
};

/** `unset name`. */
export const unset: ApplicationStart = (channel, data) => {
  channel.variables.delete(data.trim());
  return NO_RESPONSE;
};
