/** Event packages about a sipuser, which every sipuser of its domain may watch. */
import { type Directory, type SipUser, sipUserNamed } from '../../domain/index.ts';
import { plainUri } from '../../signalling/index.ts';
import type { EventPackage, ResourceState } from './event-package.ts';

/**
 * @param about the name of the package, and the type of its bodies
 * @param text the body for the sipuser at a URI; the sipuser is undefined when it has been removed
 */
export function sipUserPackage(
  directory: Directory,
  about: Pick<EventPackage, 'name' | 'type'>,
  text: (watched: SipUser | undefined, uri: string) => ResourceState['text'],
): EventPackage {
  return {
    ...about,
    defaultExpires: 3600,
    resource: ({ domain }, target) => {
      const watched = sipUserNamed(directory, domain, target);
      return watched === undefined ? { refusal: 404 } : { key: watched.id };
    },
    state: ({ domain }, target) => {
      const watched = sipUserNamed(directory, domain, target);
      return Promise.resolve({ type: about.type, text: text(watched, plainUri(target, domain)) });
    },
  };
}
