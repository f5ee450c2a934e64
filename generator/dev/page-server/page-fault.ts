/** A request of the page that cannot be done: its message is shown. */
export class PageFault extends Error {}
