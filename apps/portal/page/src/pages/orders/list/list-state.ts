import type { useListNavigation } from './use-list-navigation.ts';
import type { useLiveList } from './use-live-list.ts';
import type { useReviewUrl } from './use-review-url.ts';
import type { useSelection } from './use-selection.ts';

/** What the parts of the list share. */
export interface ListState {
  live: ReturnType<typeof useLiveList>;
  selection: ReturnType<typeof useSelection>;
  navigation: ReturnType<typeof useListNavigation>;
  url: ReturnType<typeof useReviewUrl>;
  /** Little space: two lines an order. */
  isCompact: boolean;
}
