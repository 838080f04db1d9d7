// The page without a report, in the colours that were chosen on the first page.
import {applyTheme} from "./theme.js";

applyTheme();
