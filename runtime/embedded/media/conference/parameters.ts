import type { Conference } from './conference.ts';

/** `conference <name> get <parameter>`. */
export function parameter(conference: Conference, name: string): string {
  switch (name) {
    case 'max_members':
      return String(conference.maxMembers);
    case 'pin':
      return conference.pin;
    case 'count':
      return String(conference.size);
    case 'rate':
      return '8000';
    case 'interval':
      return '20';
    case 'run_time':
      return String(Math.floor((Date.now() - conference.startedAt) / 1000));
    case 'uuid':
      return conference.uuid;
    case 'wait_mod':
      return conference.waitsForModerator ? 'true' : '';
    default:
      return '-ERR unknown parameter\n';
  }
}

/** `conference <name> set <parameter> <value>`: answers the former value. */
export function setParameter(conference: Conference, name: string, value: string): string {
  const former = parameter(conference, name);
  if (name === 'max_members') {
    if (!/^\d{1,5}$/.test(value)) return '-ERR max_members must be a number\n';
    conference.maxMembers = Number(value);
  } else if (name === 'pin') conference.pin = value === 'none' ? '' : value;
  else return '-ERR unknown parameter\n';
  return former;
}
