// SPDX-License-Identifier: MIT
// font.h - the letters of legends: ASCII 32 to 126, 5 pixels wide and 7 high, with two rows below the line for tails.
#ifndef MOTE_RENDER_FONT_H
#define MOTE_RENDER_FONT_H

#include <stdbool.h>

enum { FONT_WIDTH = 5, FONT_HEIGHT = 9, FONT_ADVANCE = 6 }; // pixels; the last from one letter to the next
enum { FONT_FIRST = 32, FONT_LAST = 126, FONT_BAND = 16 };  // letters; the last in a band of the picture below

// clang-format off
static const char *const font_picture[] = {
    //       !     "     #     $     %     &     '     (     )     *     +     ,     -     .     /
    "        #    # #   # #    #   ##     ##     #      #   #                                      #",
    "        #    # #   # #   #### ##  # #  #    #     #     #     #     #                         #",
    "        #    # #  ##### # #      #  # #    #     #       #  # # #   #                        # ",
    "        #          # #   ###    #    #           #       #   ###  #####        ###          #  ",
    "        #         #####   # #  #    # # #        #       #  # # #   #                      #   ",
    "                   # #  ####  #  ## #  #          #     #     #     #    ##          ##   #    ",
    "        #          # #    #      ##  ## #          #   #                 ##          ##   #    ",
    "                                                                          #                    ",
    "                                                                         #                     ",
    // 0     1     2     3     4     5     6     7     8     9     :     ;     <     =     >     ?
    " ###    #    ###   ###     #  #####   ##  #####  ###   ###                 #         #     ### ",
    "#   #  ##   #   # #   #   ##  #      #        # #   # #   #  ##    ##     #           #   #   #",
    "#  ## # #       #     #  # #  ####  #        #  #   # #   #  ##    ##    #    #####    #      #",
    "# # #   #     ##    ##  #  #      # ####    #    ###   ####             #               #    # ",
    "##  #   #    #        # #####     # #   #   #   #   #     #  ##          #    #####    #    #  ",
    "#   #   #   #     #   #    #  #   # #   #  #    #   #    #   ##    ##     #           #        ",
    " ###  ##### #####  ###     #   ###   ###   #     ###   ##          ##      #         #      #  ",
    "                                                                    #                          ",
    "                                                                   #                           ",
    // @     A     B     C     D     E     F     G     H     I     J     K     L     M     N     O
    " ###    #   ####   ###  ###   ##### #####  ###  #   #  ###    ### #   # #     #   # #   #  ### ",
    "#   #  # #  #   # #   # #  #  #     #     #   # #   #   #      #  #  #  #     ## ## ##  # #   #",
    "# ### #   # #   # #     #   # #     #     #     #   #   #      #  # #   #     # # # ##  # #   #",
    "# # # #   # ####  #     #   # ####  ####  # ### #####   #      #  ##    #     # # # # # # #   #",
    "# ### ##### #   # #     #   # #     #     #   # #   #   #      #  # #   #     #   # #  ## #   #",
    "#     #   # #   # #   # #  #  #     #     #   # #   #   #   #  #  #  #  #     #   # #  ## #   #",
    " #### #   # ####   ###  ###   ##### #      #### #   #  ###   ##   #   # ##### #   # #   #  ### ",
    "                                                                                               ",
    "                                                                                               ",
    // P     Q     R     S     T     U     V     W     X     Y     Z     [     \     ]     ^     _
    "####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####  ###  #      ###    #        ",
    "#   # #   # #   # #       #   #   # #   # #   # #   # #   #     #  #    #        #   # #       ",
    "#   # #   # #   # #       #   #   # #   # #   #  # #   # #     #   #     #       #  #   #      ",
    "####  #   # ####   ###    #   #   # #   # # # #   #     #     #    #      #      #             ",
    "#     # # # # #       #   #   #   #  # #  # # #  # #    #    #     #       #     #             ",
    "#     #  #  #  #      #   #   #   #  # #  ## ## #   #   #   #      #        #    #             ",
    "#      ## # #   # ####    #    ###    #   #   # #   #   #   #####  ###      #  ###             ",
    "                                                                                          #####",
    "                                                                                               ",
    // `     a     b     c     d     e     f     g     h     i     j     k     l     m     n     o
    " #          #               #         ##        #       #      #  #      ##                    ",
    "  #         #               #        #          #                 #       #                    ",
    "   #   ###  ####   ###   ####  ###  ####   #### # ##   ##     ##  #  #    #   ## #  # ##   ### ",
    "          # #   # #   # #   # #   #  #    #   # ##  #   #      #  # #     #   # # # ##  # #   #",
    "       #### #   # #     #   # #####  #    #   # #   #   #      #  ##      #   # # # #   # #   #",
    "      #   # #   # #   # #   # #      #    #   # #   #   #      #  # #     #   # # # #   # #   #",
    "       #### ####   ###   ####  ###   #     #### #   #  ###     #  #  #   ###  # # # #   #  ### ",
    "                                              #             #  #                               ",
    "                                           ###               ##                                ",
    // p     q     r     s     t     u     v     w     x     y     z     {     |     }     ~
    "                         #                                           #    #    #               ",
    "                         #                                          #     #     #              ",
    "####   #### # ##   #### ####  #   # #   # #   # #   # #   # #####   #     #     #    #  #      ",
    "#   # #   # ##  # #      #    #   # #   # #   #  # #  #   #    #   #      #      #  # # #      ",
    "#   # #   # #      ###   #    #   # #   # # # #   #   #   #   #     #     #     #   #  #       ",
    "#   # #   # #         #  #    #  ##  # #  # # #  # #  #   #  #      #     #     #              ",
    "####   #### #     ####    ##   ## #   #    # #  #   #  #### #####    #    #    #               ",
    "#         #                                               #                                    ",
    "#         #                                            ###                                     ",
};
// clang-format on

// Whether a letter has ink at column x of 0..4, row y of 0..8; what the font does not have looks like a question mark.
static inline bool font_ink(char letter, int x, int y)
{
    const int code = letter >= FONT_FIRST && letter <= FONT_LAST ? letter : '?';
    const int index = code - FONT_FIRST;
    return font_picture[index / FONT_BAND * FONT_HEIGHT + y][index % FONT_BAND * FONT_ADVANCE + x] == '#';
}

#endif
