/** The rooms in which the person takes part. */
import type { PageProps } from '../../pages.ts';
import { OWN_ROOMS } from '../../stores/rooms.ts';
import { RoomsOf } from '../conferences/conferences-page.tsx';

export default function MyRoomsPage(props: PageProps) {
  return <RoomsOf {...props} scope={OWN_ROOMS} />;
}
