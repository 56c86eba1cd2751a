// Included before everything else in this test program: one line declares a column of each kind.
#define ANABRANCH_MORE_NODE_COLUMNS(COLUMN) COLUMN(more_node, double, 2, 0.5, true, true)
#define ANABRANCH_MORE_EDGE_COLUMNS(COLUMN) COLUMN(more_edge, std::uint32_t, 1, 7, true, true)
#define ANABRANCH_MORE_CHOICE_COLUMNS(COLUMN) COLUMN(more_choice, double, 1, -1.0, true, true)
