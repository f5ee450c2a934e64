/** A failed request of the page. The page shows the message. */
export class PageFault extends Error {}
